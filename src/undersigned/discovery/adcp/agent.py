"""The keys of AdCP agents, from their URLs, by way of their operators' brand.json (AdCP, Discovering keys)."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from undersigned.discovery.adcp.adagents import NO_KEYS, load_pins
from undersigned.discovery.adcp.brand import authorized_until, brand_url, check_key_origins, jwks_url
from undersigned.discovery.adcp.protocols import Conversation, authority, call_tool, run_task
from undersigned.discovery.document_cache import Copy, Loader
from undersigned.discovery.fetch import FetchRequest
from undersigned.discovery.fetch_errors import source_errors
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import read_json_object, read_jwk_set
from undersigned.discovery.key_sources import KeySources
from undersigned.discovery.network import Network
from undersigned.discovery.remote_jwks import JWK_SET_TYPES, FetchedKeys, check_url
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.limits import MOST_BRAND_BYTES, MOST_FETCHES, MOST_JWKS_BYTES
from undersigned.message.timestamps import system_clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from undersigned.discovery.adcp.adagents import Pins
    from undersigned.discovery.jwk_set import Keys
    from undersigned.signature.jwk import JWK
    from undersigned.signature.key_source import KeyLookup
    from undersigned.signature.verification_key import VerificationKey

AgentProtocol: TypeAlias = Literal["mcp", "a2a"]
"""The protocol of an agent's URL."""

TASK: Final = "get_adcp_capabilities"

ADCP_FRESHNESS: Final = Freshness(stale=900)
"""How long an agent's keys are used: for half an hour at most, which is the longest interval of revocation lists."""

PIN_FRESHNESS: Final = Freshness(default=3600, most=3600)
"""How long an adagents.json is used: as long as its max-age says, an hour without one and at most."""


class AdCPAgent(FetchedKeys):
    """The keys of one AdCP agent, found from its URL (AdCP, Discovering keys).

    The agent's capabilities name its operator's brand.json, whose entry with exactly the agent's URL names the JWK set.
    The domains of agent and brand.json must be the same, or the brand.json must authorize the agent's domain. The
    agent's `identity.key_origins` must agree with the JWK set's host. When the brand.json expires, the JWK set's URL is
    looked up again. Redirects are not followed, and every URL is fetched under the guard of `network`.

    Args:
        url: the agent's URL, exactly as its operator's brand.json has it.
        purpose: the member of `identity.key_origins` that must be declared.
        protocol: the protocol of the URL, `mcp` or `a2a`.
        publisher: a publisher's domain, for webhooks that a seller sends about that publisher's inventory. If its
            adagents.json pins keys for the agent, only these keys count.
        freshness: how long the keys are used.
        network: which addresses may be reached, and in what time.
        clock: seconds that never go back.
        now: seconds since the epoch.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_jwks", "_now", "_pin_loader", "_pins", "_protocol", "_purpose", "publisher")

    def __init__(
        self,
        url: str,
        *,
        purpose: str = "request_signing",
        protocol: AgentProtocol = "mcp",
        publisher: str = "",
        freshness: Freshness = ADCP_FRESHNESS,
        network: Network = Network(),  # noqa: B008 - frozen
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = system_clock,
    ) -> None:
        check_url("url", url)
        if publisher and authority(f"https://{publisher}/") != publisher:
            raise ConfigurationError("publisher: give a domain without scheme, such as publisher.example.com")
        self._purpose, self._protocol, self.publisher, self._now = purpose, protocol, publisher, now
        self._loader = Loader(network, freshness, clock)
        self._pin_loader = Loader(network, PIN_FRESHNESS, clock)
        # The URL of the JWK set is kept as long as the brand.json is fresh.
        self._jwks: Copy[tuple[str, float]] | None = None
        self._pins: Copy[Pins] | None = None
        super().__init__(url, self._load, self._loader)

    def _load(self, last: Copy[Keys] | None) -> Copy[Keys]:
        """Return the agent's keys. An error has the reason of the step that failed."""
        # All fetches of one refresh together are bounded.
        ends = time.monotonic() + MOST_FETCHES * self._loader.network.total_timeout

        def seconds() -> float:
            return ends - time.monotonic()

        now = self._loader.clock()
        early = last is not None and now < last.fresh_until
        # First: what the publisher withdraws is withdrawn, also if the agent's servers fail.
        if self.publisher and (self._pins is None or now >= self._pins.fresh_until or early):
            self._pins = self._load_pins(seconds)
        if self._jwks is None or now >= self._jwks.fresh_until:
            self._jwks = self._locate(seconds)
        return self._keys(self._jwks, seconds())

    def _keys(self, jwks: Copy[tuple[str, float]], seconds: float) -> Copy[Keys]:
        """Return the keys of the agent's JWK set that are not excluded by a pin (step 8)."""
        url, until = jwks.value
        request = FetchRequest(url=url, max_bytes=MOST_JWKS_BYTES, accept=JWK_SET_TYPES, seconds=seconds)
        wall = self._now()
        # If it fails, its URL is looked up again.
        self._jwks = None
        with source_errors("the JWK set"):
            copy = self._loader.load(request, partial(self._read_keys, until=until))
        self._jwks = jwks
        ends = min(copy.fresh_until, jwks.fresh_until)
        if self._pins is not None:
            ends = min(ends, self._pins.fresh_until)
            revoked = (moment - wall for moment in (self._pins.value.keys or {}).values() if moment > wall)
            ends = min(ends, copy.fetched + min(revoked, default=math.inf))
        return replace(copy, fresh_until=ends)

    def _locate(self, seconds: Callable[[], float]) -> Copy[tuple[str, float]]:
        """Return the URL of the agent's JWK set, and until when it is the agent's by the wall clock (steps 1 to 7)."""
        conversation = Conversation(self.url, self._loader.network, seconds)
        with source_errors("the agent's capabilities", "signature_capabilities_unreachable"):
            capabilities = (call_tool if self._protocol == "mcp" else run_task)(conversation, TASK)
        url = brand_url(capabilities)
        request = FetchRequest(url=url, max_bytes=MOST_BRAND_BYTES, seconds=seconds())
        what = "the operator's brand.json"
        with source_errors(what, "signature_brand_json_unreachable", "signature_brand_json_malformed"):
            brand = self._loader.load(request, read_json_object)
        wall = self._now()
        until = authorized_until(self.url, url, brand.value, now=wall)
        jwks = jwks_url(self.url, brand.value)
        check_key_origins(capabilities, jwks, purpose=self._purpose)
        return Copy((jwks, until), brand.fetched, min(brand.fresh_until, brand.fetched + until - wall))

    def _load_pins(self, seconds: Callable[[], float]) -> Copy[Pins]:
        last = None if self._pins is None else self._pins.value
        try:
            with source_errors("the publisher's adagents.json"):
                return load_pins(self.publisher, self.url, self._pin_loader, last=last, seconds=seconds)
        except KeySourceError as error:
            if error.definite:
                # It stays withdrawn until an adagents.json says something else, whatever fails until then.
                self._pins = Copy(NO_KEYS, -math.inf, -math.inf)
            raise

    def _read_keys(self, body: bytes, *, until: float) -> Keys:
        def is_wanted(jwk: JWK) -> bool:
            pinned = math.inf if self._pins is None else self._pins.value.ends_at(jwk)
            return self._now() < min(until, pinned)

        # Asked at each lookup: a key ends when its publisher says so, also while the agent's server does not answer.
        return read_jwk_set(read_json_object(body), wanted=is_wanted)


class AdCPDirectory(KeySources):
    """The keys of the AdCP agents that a verifier deals with. A signer is known by its agent's URL.

    Args:
        agents: agent URLs, all with the options of `AdCPAgent` that follow, or `AdCPAgent` objects with their own.
        purpose: as for `AdCPAgent`.
        protocol: as for `AdCPAgent`.
        freshness: as for `AdCPAgent`.
        network: as for `AdCPAgent`.

    Raises:
        ConfigurationError: an argument has the wrong type or value, or an agent is listed twice for one publisher.
    """

    __slots__ = ()

    def __init__(
        self,
        agents: Iterable[str | AdCPAgent],
        *,
        purpose: str = "request_signing",
        protocol: AgentProtocol = "mcp",
        freshness: Freshness = ADCP_FRESHNESS,
        network: Network = Network(),  # noqa: B008 - frozen
    ) -> None:
        found: dict[str, dict[str, AdCPAgent]] = {}
        for given in agents:
            agent = given
            if not isinstance(agent, AdCPAgent):
                agent = AdCPAgent(agent, purpose=purpose, protocol=protocol, freshness=freshness, network=network)
            of_publishers = found.setdefault(agent.url, {})
            if agent.publisher in of_publishers or (of_publishers and "" in {agent.publisher, *of_publishers}):
                message = f"agents: {agent.url} is listed twice; list it once, or once for each publisher"
                raise ConfigurationError(message)
            of_publishers[agent.publisher] = agent
        sources = {
            url: _OfPublishers(each) if len(each) > 1 else next(iter(each.values())) for url, each in found.items()
        }
        super().__init__(sources)


class _OfPublishers(KeySources):
    """The keys of one agent, by the pins of several publishers: those that one of them lets count."""

    __slots__ = ()

    def _resolve(
        self,
        lookup: KeyLookup,  # noqa: ARG002 - the signature of the base
        answers: Mapping[str, Sequence[VerificationKey]],
        failures: Mapping[str, Exception],
    ) -> tuple[VerificationKey, ...]:
        found = {key.thumbprint: key for keys in answers.values() for key in keys}
        for failure in () if found else failures.values():
            raise failure
        return tuple(found.values())

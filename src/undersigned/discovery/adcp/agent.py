"""One agent's keys: from its URL to its JWK set by way of its operator's brand.json (AdCP, Discovering keys)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from undersigned.discovery.adcp.adagents import load_pins
from undersigned.discovery.adcp.brand import brand_url, check_key_origins, check_origin, jwks_url
from undersigned.discovery.adcp.protocols import Conversation, call_tool, run_task
from undersigned.discovery.fetch import FetchRequest
from undersigned.discovery.fetch_errors import FetchError
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import parse_jwk_set, read_json_object, read_jwk_set
from undersigned.discovery.kept import Copy, Loader, source_error
from undersigned.discovery.remote_jwks import JWK_SET_TYPES
from undersigned.limits import MOST_BRAND_BYTES, MOST_JWKS_BYTES
from undersigned.signature.jwk import thumbprint

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.discovery.adcp.adagents import Pins
    from undersigned.discovery.jwk_set import Keys

AgentProtocol: TypeAlias = Literal["mcp", "a2a"]
"""The protocol of an agent's URL."""

TASK: Final = "get_adcp_capabilities"

PIN_FRESHNESS: Final = Freshness(default=3600, most=3600)
"""How long an adagents.json is used: as long as its max-age says, an hour without one and at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent whose keys are looked for, and how to look for them.

    Attributes:
        url: the agent's URL, as its operator's brand.json has it, character by character.
        purpose: the member of `identity.key_origins` that must be declared.
        protocol: the protocol of the URL.
        publisher: the domain of the publisher whose adagents.json may pin the agent's keys, or "".
        seconds: upper bound on the seconds that all fetches of one refresh take.
        now: seconds since the epoch.
    """

    url: str
    purpose: str
    protocol: AgentProtocol
    publisher: str
    seconds: float
    now: Callable[[], float]


class AgentLoader:
    """A loader of the keys of an agent. It keeps the URL of the JWK set as long as the brand.json is fresh.

    Args:
        agent: which agent.
        loader: fetches under the guard.
    """

    def __init__(self, agent: Agent, loader: Loader) -> None:
        self._agent = agent
        self._loader = loader
        self._pin_loader = Loader(loader.network, PIN_FRESHNESS, loader.clock)
        self._jwks: Copy[str] | None = None
        self._pins: Copy[Pins] | None = None

    def __call__(self, last: Copy[Keys] | None, /) -> Copy[Keys]:
        """Return the agent's keys.

        Raises:
            KeySourceError: the step that failed.
        """
        ends = time.monotonic() + self._agent.seconds

        def seconds() -> float:
            return ends - time.monotonic()

        now = self._loader.clock()
        if self._jwks is None or now >= self._jwks.fresh_until:
            self._jwks = self._locate(seconds)
        early = last is not None and now < last.fresh_until
        if self._agent.publisher and (self._pins is None or now >= self._pins.fresh_until or early):
            self._pins = self._load_pins(seconds)
        return self._keys(self._jwks, seconds())

    def _keys(self, jwks: Copy[str], seconds: float) -> Copy[Keys]:
        """Return the keys of the agent's JWK set that are not excluded by a pin (step 8)."""
        request = FetchRequest(url=jwks.value, max_bytes=MOST_JWKS_BYTES, accept=JWK_SET_TYPES, seconds=seconds)
        pins = None if self._pins is None else self._pins.value
        wall = self._agent.now()
        try:
            copy = self._loader.load(request, partial(_read_keys, pins=pins, now=wall))
        except FetchError as error:
            self._jwks = None
            raise source_error("the JWK set", error, "signature_jwks_unavailable") from error
        ends = min(copy.fresh_until, jwks.fresh_until)
        if self._pins is not None:
            ends = min(ends, self._pins.fresh_until)
            revoked = (moment - wall for moment in (pins or {}).values() if moment > wall)
            ends = min(ends, copy.fetched + min(revoked, default=math.inf))
        return replace(copy, fresh_until=ends)

    def _locate(self, seconds: Callable[[], float]) -> Copy[str]:
        """Return the URL of the agent's JWK set (steps 1 to 7)."""
        agent = self._agent
        conversation = Conversation(agent.url, self._loader.network, seconds)
        try:
            capabilities = (call_tool if agent.protocol == "mcp" else run_task)(conversation, TASK)
        except FetchError as error:
            raise source_error("the agent's capabilities", error, "signature_capabilities_unreachable") from error
        url = brand_url(capabilities)
        request = FetchRequest(url=url, max_bytes=MOST_BRAND_BYTES, seconds=seconds())
        try:
            brand = self._loader.load(request, read_json_object)
        except FetchError as error:
            what = "the operator's brand.json"
            raise source_error(
                what, error, "signature_brand_json_unreachable", "signature_brand_json_malformed"
            ) from error
        check_origin(agent.url, url, brand.value, now=agent.now())
        jwks = jwks_url(agent.url, brand.value)
        check_key_origins(capabilities, jwks, purpose=agent.purpose)
        return Copy(jwks, brand.fetched, brand.fresh_until)

    def _load_pins(self, seconds: Callable[[], float]) -> Copy[Pins]:
        try:
            return load_pins(self._agent.publisher, self._agent.url, self._pin_loader, seconds=seconds)
        except FetchError as error:
            raise source_error("the publisher's adagents.json", error, "signature_jwks_unavailable") from error


def _read_keys(body: bytes, *, pins: Pins, now: float) -> Keys:
    if pins is None:
        return parse_jwk_set(body)
    return read_jwk_set(read_json_object(body), wanted=lambda jwk: pins.get(thumbprint(jwk) or "", -math.inf) > now)

"""Key sources for Web Bot Auth: the keys of whoever Signature-Agent names, by URL and keyid (sections 5.4 and 5.5)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast, get_args

from undersigned.discovery.cache import Cache
from undersigned.discovery.document import Loader
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.kept import AsyncKept, Kept
from undersigned.discovery.network import Network
from undersigned.discovery.running import Running
from undersigned.discovery.web_bot_auth.agent_keys import AgentLoader
from undersigned.discovery.web_bot_auth.agents import Agents
from undersigned.discovery.web_bot_auth.allowance import Allowance
from undersigned.discovery.web_bot_auth.published_keys import FAULT, PUBLISHED
from undersigned.errors import ConfigurationError, KeySourceError, MalformedURL
from undersigned.limits import LONGEST_RETRY_AFTER, MOST_AGENT_FETCHES, MOST_NEW_AGENTS
from undersigned.message.signature_agent import SignatureAgent, SignatureAgentForm
from undersigned.signature.agent import named_agent
from undersigned.signature.keys import VerificationKey
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType
    from typing import Self

    from undersigned.discovery.jwk_set import Keys
    from undersigned.signature.key_source import KeyLookup

TrustedAgents: TypeAlias = Collection[str] | Callable[[str], bool] | None
"""Whose keys may be fetched: URLs as senders write them, or a function of the URL to fetch; None: anybody's."""

_Keys: TypeAlias = "tuple[VerificationKey, ...]"


class WebBotAuthKeys(Running):
    """The keys of whoever a signature's Signature-Agent names, for threads. Their `owner` is the URL of the keys.

    Senders choose the URLs, so every fetch is guarded as `undersigned.discovery` says, and all fetches together are
    bounded. The keys of a URL are kept as long as its Cache-Control says, within `freshness`. A key is looked up by URL
    and keyid, and never by keyid alone. If the profile has `answers.unknown`, the errors of this source mean that the
    sender is merely unknown.

    Args:
        form: the wire form of Signature-Agent: `string`, `typed` or `jwks`, as the profile's name has it.
        trusted: whose keys may be fetched.
        held: keys that you have beforehand, made of JWKs. They verify what Signature-Agent does not lead to, with their
            thumbprint as owner.
        freshness: how long keys are used. Its `interval` is how long a failure is remembered: up to five minutes.
        network: which addresses may be reached, and in what time.
        most_at_once: how many fetches may be in flight.
        most_a_minute: how many URLs that gave no keys yet may be fetched in a minute.
        accepts_test_keys: whether keys of RFC examples, whose private half is published, are accepted: in tests only.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: an argument is not what it must be.
    """

    __slots__ = ("_agents", "_loader", "_rule")

    def __init__(
        self,
        *,
        form: SignatureAgentForm,
        trusted: TrustedAgents = None,
        held: Iterable[VerificationKey] = (),
        freshness: Freshness = Freshness(),  # noqa: B008 - frozen
        network: Network = Network(),  # noqa: B008 - frozen
        most_at_once: int = MOST_AGENT_FETCHES,
        most_a_minute: int = MOST_NEW_AGENTS,
        accepts_test_keys: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        allowance = Allowance(at_once=most_at_once, a_minute=most_a_minute, clock=clock)
        self._rule = _rule(form, trusted, held, freshness, network, allowance, accepts_test_keys=accepts_test_keys)
        self._loader = Loader.blocking(network, freshness, clock)
        self._agents: Agents[Kept[Keys]] = Agents()

    @property
    def blocking(self) -> bool:
        """Always True: the source may fetch."""
        return True

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the keys that `lookup.keyid` names at the URL that the signature's Signature-Agent names.

        Raises:
            KeySourceError: the signature covers no Signature-Agent, or nobody is named (`signature_identity_missing`),
                the field is malformed (`signature_header_malformed`), the URL must not be fetched
                (`signature_jwks_untrusted`) or its keys cannot be fetched now (`signature_jwks_unavailable`).
        """
        held = self._rule.held.get(lookup.keyid, ())
        try:
            kept = self._kept(self._rule.agent(lookup))
            return kept.get(lambda keys: lookup.keyid in keys).get(lookup.keyid, held)
        except KeySourceError:
            if held:
                return held
            raise

    def start(self) -> None:
        """Do nothing: keys are fetched when a request names them."""

    def stop(self) -> None:
        """Wait for the fetches in flight."""
        for kept in self._agents.all():
            kept.stop()

    def _kept(self, agent: SignatureAgent) -> Kept[Keys]:
        def make() -> Kept[Keys]:
            rule, loader = self._rule, self._loader
            cache: Cache[Keys] = Cache(loader.freshness, loader.clock)
            return Kept(agent.location, rule.load(agent, loader), cache, network=rule.network)

        return self._agents.get(agent, make)


class AsyncWebBotAuthKeys:
    """`WebBotAuthKeys` for the tasks of an event loop; `async with` ends the fetches in flight when it is left."""

    __slots__ = ("_agents", "_loader", "_rule")

    def __init__(
        self,
        *,
        form: SignatureAgentForm,
        trusted: TrustedAgents = None,
        held: Iterable[VerificationKey] = (),
        freshness: Freshness = Freshness(),  # noqa: B008 - frozen
        network: Network = Network(),  # noqa: B008 - frozen
        most_at_once: int = MOST_AGENT_FETCHES,
        most_a_minute: int = MOST_NEW_AGENTS,
        accepts_test_keys: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        allowance = Allowance(at_once=most_at_once, a_minute=most_a_minute, clock=clock)
        self._rule = _rule(form, trusted, held, freshness, network, allowance, accepts_test_keys=accepts_test_keys)
        self._loader = Loader.awaiting(network, freshness, clock)
        self._agents: Agents[AsyncKept[Keys]] = Agents()

    def find(self, lookup: KeyLookup) -> _Keys | Coroutine[object, None, _Keys]:
        """Return the keys as `WebBotAuthKeys.find` does, or an awaitable of them if they have to be fetched."""
        held = self._rule.held.get(lookup.keyid, ())
        try:
            kept = self._kept(self._rule.agent(lookup))
        except KeySourceError:
            if held:
                return held
            raise
        return (kept.fresh() or {}).get(lookup.keyid) or _sought(kept, lookup.keyid, held)

    async def stop(self) -> None:
        """End the fetches in flight."""
        await asyncio.gather(*(kept.stop() for kept in self._agents.all()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _kept(self, agent: SignatureAgent) -> AsyncKept[Keys]:
        def make() -> AsyncKept[Keys]:
            rule, loader = self._rule, self._loader
            cache: Cache[Keys] = Cache(loader.freshness, loader.clock)
            return AsyncKept(agent.location, rule.load(agent, loader), cache, network=rule.network)

        return self._agents.get(agent, make)


async def _sought(kept: AsyncKept[Keys], keyid: str, held: _Keys) -> _Keys:
    try:
        return (await kept.get(lambda keys: keyid in keys)).get(keyid, held)
    except KeySourceError:
        if held:
            return held
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """Who a signature's keys are looked up from.

    Attributes:
        form: the wire form of the field.
        trusted: tells whether keys may be fetched from a URL.
        held: the keys that the operator has, by thumbprint.
        network: which addresses may be reached.
        allowance: bounds all fetches.
        accepts_test_keys: whether keys that anybody has are accepted.
    """

    form: SignatureAgentForm
    trusted: Callable[[SignatureAgent], bool]
    held: dict[str, _Keys]
    network: Network
    allowance: Allowance
    accepts_test_keys: bool

    def agent(self, lookup: KeyLookup) -> SignatureAgent:
        """Return who the covered Signature-Agent of a signature names.

        Raises:
            KeySourceError: nobody, or somebody who is not trusted.
        """
        agent = named_agent(lookup, form=self.form)
        if agent is None:
            raise KeySourceError(
                "signature_identity_missing", "the signature covers no Signature-Agent that names somebody in this form"
            )
        if not self.trusted(agent):
            raise KeySourceError("signature_jwks_untrusted", "trusted: it does not have the URL of Signature-Agent")
        # Only a card has to name its own URL as it was written. Any other URL in two spellings is one URL.
        return agent if agent.document == "cimd" else replace(agent, url=agent.location)

    def load(self, agent: SignatureAgent, loader: Loader) -> AgentLoader:
        """Return the function that loads a new agent's keys.

        Raises:
            KeySourceError: too many are fetched now.
        """
        self.allowance.check()
        return AgentLoader(
            agent=agent, loader=loader, allowance=self.allowance, accepts_test_keys=self.accepts_test_keys
        )


def _rule(
    form: SignatureAgentForm,
    trusted: TrustedAgents,
    held: Iterable[VerificationKey],
    freshness: Freshness,
    network: Network,
    allowance: Allowance,
    *,
    accepts_test_keys: bool,
) -> _Rule:
    """Check the options of a source, and return its rule."""
    if form not in get_args(SignatureAgentForm):
        raise ConfigurationError('form: must be "string", "typed" or "jwks"')
    if not isinstance(freshness, Freshness) or freshness.interval > LONGEST_RETRY_AFTER:
        raise ConfigurationError(f"freshness: give a Freshness with an interval of {LONGEST_RETRY_AFTER} at most")
    return _Rule(
        form=form,
        trusted=_trusted(trusted),
        held=_held(held, accepts_test_keys=accepts_test_keys),
        network=network,
        allowance=allowance,
        accepts_test_keys=accepts_test_keys,
    )


def _trusted(trusted: TrustedAgents) -> Callable[[SignatureAgent], bool]:
    if trusted is None:
        return lambda _agent: True
    if callable(trusted):
        return lambda agent: trusted(agent.location)
    if isinstance(trusted, str):
        raise ConfigurationError('trusted: give a list of URLs, such as ["https://bot.example"], or a function')
    try:
        urls = frozenset(canonicalize(url).target_uri for url in trusted)
    except (TypeError, MalformedURL) as error:
        raise ConfigurationError(f"trusted: {error}; give URLs such as https://bot.example") from None
    return lambda agent: agent.location in urls or canonicalize(agent.url, received=True).target_uri in urls


def _held(held: Iterable[VerificationKey], *, accepts_test_keys: bool) -> dict[str, _Keys]:
    keys: dict[str, _Keys] = {}
    for key in held:
        if not isinstance(cast("object", key), VerificationKey) or not key.thumbprint:
            raise ConfigurationError("held: give keys that VerificationKey.from_jwk made, and that have no fault")
        if key.thumbprint in PUBLISHED and not accepts_test_keys:
            raise ConfigurationError(f"held: {FAULT}")
        keys[key.thumbprint] = (replace(key, keyid=key.thumbprint, owner=key.thumbprint),)
    return keys

"""Named keys: sources that fetch the keys of the agent that a signature names. Senders choose its URL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from undersigned.discovery.agents import Agents
from undersigned.discovery.cache import Cache
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.kept import AsyncKept, Kept
from undersigned.discovery.running import AsyncRunning, Running
from undersigned.errors import ConfigurationError, KeySourceError, MalformedURL
from undersigned.limits import LONGEST_RETRY_AFTER
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from undersigned.discovery.document import Loader
    from undersigned.discovery.jwk_set import Keys
    from undersigned.discovery.kept import Load
    from undersigned.discovery.network import Network
    from undersigned.signature.key_source import KeyLookup
    from undersigned.signature.verification_key import VerificationKey

FoundKeys: TypeAlias = "tuple[VerificationKey, ...]"

TrustedAgents: TypeAlias = Collection[str] | Callable[[str], bool] | None
"""The agents whose keys may be fetched: URLs as senders write them, or a function of the URL to fetch. None: all."""


class NamedAgent(Protocol):
    """An agent that a signature names. Two equal agents have the same keys."""

    @property
    def location(self) -> str:
        """The URL to fetch."""
        ...

    def __hash__(self) -> int: ...


Agent = TypeVar("Agent", bound=NamedAgent)


class Naming(Protocol[Agent]):
    """A rule that finds the agent that a signature names, and loads its keys."""

    @property
    def held(self) -> Mapping[str, FoundKeys]:
        """The keys that the operator has, by keyid."""
        ...

    @property
    def network(self) -> Network:
        """Which addresses may be reached."""
        ...

    def agent(self, lookup: KeyLookup) -> Agent:
        """Return the agent that a signature names, or raise a `KeySourceError`."""
        ...

    def load(self, agent: Agent, loader: Loader) -> Load[Keys]:
        """Return the function that loads a new agent's keys, or raise a `KeySourceError` if too many are fetched."""
        ...


class NamedKeys(Running, Generic[Agent]):
    """A key source for threads that fetches the keys of named agents. The sources of each kind of agent extend it.

    Args:
        rule: finds the agent that a signature names.
        loader: fetches under the guard, blocking.
    """

    __slots__ = ("_agents", "_loader", "_rule")

    def __init__(self, rule: Naming[Agent], loader: Loader) -> None:
        self._rule = rule
        self._loader = loader
        self._agents: Agents[Kept[Keys]] = Agents()

    @property
    def blocking(self) -> bool:
        """Always True: the source may fetch."""
        return True

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the keys that `lookup.keyid` names at the URL that the signature names.

        Raises:
            KeySourceError: the signature names no agent, or the keys at the URL must not or cannot be fetched now.
        """
        held = self._rule.held.get(lookup.keyid, ())
        try:
            kept = self._kept_keys(self._rule.agent(lookup))
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

    def _kept_keys(self, agent: Agent) -> Kept[Keys]:
        def make() -> Kept[Keys]:
            rule, loader = self._rule, self._loader
            cache: Cache[Keys] = Cache(loader.freshness, loader.clock)
            return Kept(agent.location, rule.load(agent, loader), cache, network=rule.network)

        return self._agents.get(agent, make)


class AsyncNamedKeys(AsyncRunning, Generic[Agent]):
    """`NamedKeys` for the tasks of an event loop."""

    __slots__ = ("_agents", "_loader", "_rule")

    def __init__(self, rule: Naming[Agent], loader: Loader) -> None:
        self._rule = rule
        self._loader = loader
        self._agents: Agents[AsyncKept[Keys]] = Agents()

    def find(self, lookup: KeyLookup) -> FoundKeys | Coroutine[object, None, FoundKeys]:
        """Return the keys as `NamedKeys.find` does, or an awaitable of them if they have to be fetched."""
        held = self._rule.held.get(lookup.keyid, ())
        try:
            kept = self._kept_keys(self._rule.agent(lookup))
        except KeySourceError:
            if held:
                return held
            raise
        return (kept.fresh() or {}).get(lookup.keyid) or _sought(kept, lookup.keyid, held)

    def start(self) -> None:
        """Do nothing: keys are fetched when a request names them."""

    async def stop(self) -> None:
        """End the fetches in flight."""
        await asyncio.gather(*(kept.stop() for kept in self._agents.all()))

    def _kept_keys(self, agent: Agent) -> AsyncKept[Keys]:
        def make() -> AsyncKept[Keys]:
            rule, loader = self._rule, self._loader
            cache: Cache[Keys] = Cache(loader.freshness, loader.clock)
            return AsyncKept(agent.location, rule.load(agent, loader), cache, network=rule.network)

        return self._agents.get(agent, make)


async def _sought(kept: AsyncKept[Keys], keyid: str, held: FoundKeys) -> FoundKeys:
    try:
        return (await kept.get(lambda keys: keyid in keys)).get(keyid, held)
    except KeySourceError:
        if held:
            return held
        raise


def trusted_urls(trusted: TrustedAgents) -> Callable[[str, str], bool]:
    """Return a function that tells whether keys may be fetched from a URL, by its canonical and its written form.

    Raises:
        ConfigurationError: `trusted` is neither a list of URLs nor a function.
    """
    if trusted is None:
        return lambda _location, _url: True
    if callable(trusted):
        return lambda location, _url: trusted(location)
    if isinstance(trusted, str):
        raise ConfigurationError('trusted: give a list of URLs, such as ["https://bot.example"], or a function')
    try:
        urls = frozenset(canonicalize(url).target_uri for url in trusted)
    except (TypeError, MalformedURL) as error:
        raise ConfigurationError(f"trusted: {error}; give URLs such as https://bot.example") from None
    return lambda location, url: location in urls or canonicalize(url, received=True).target_uri in urls


def check_freshness(freshness: object) -> None:
    """Check how long keys are used, and how long a failure is remembered.

    Raises:
        ConfigurationError: it is not a `Freshness`, or its interval is longer than five minutes.
    """
    if not isinstance(freshness, Freshness) or freshness.interval > LONGEST_RETRY_AFTER:
        raise ConfigurationError(
            f"freshness: give a Freshness with an interval of at most {LONGEST_RETRY_AFTER} seconds"
        )

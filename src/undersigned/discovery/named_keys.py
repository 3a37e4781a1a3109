"""Named keys: sources that fetch what a signature names. Senders choose the URLs, so all fetches are bounded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from undersigned.discovery.kept_document import Loader, has_keys
from undersigned.discovery.sender_limits import Senders
from undersigned.discovery.threads_and_tasks import wait_in_task, wait_in_thread
from undersigned.errors import ConfigurationError, KeySourceError, MalformedURL
from undersigned.url import canonicalize
from undersigned.verification.asking import finish

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from undersigned.discovery.freshness import Freshness
    from undersigned.discovery.jwk_set import Keys
    from undersigned.discovery.kept_document import Copy, Kept
    from undersigned.discovery.network import Network
    from undersigned.discovery.threads_and_tasks import Wait
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


class NamedKeys(ABC, Generic[Agent]):
    """A key source that fetches the keys of the agent that a signature names. Each kind of agent extends it.

    If a key does not verify a signature, it is fetched again, at most every `freshness.interval` seconds.
    """

    __slots__ = ("_loader", "_senders")

    blocking = asks_again = True

    def __init__(
        self,
        network: Network,
        freshness: Freshness,
        clock: Callable[[], float],
        *,
        most: int,
        at_once: int,
        a_minute: int,
    ) -> None:
        self._loader = Loader(network, freshness, clock)
        self._senders = Senders(self._loader, most=most, at_once=at_once, a_minute=a_minute)

    @abstractmethod
    def agent(self, lookup: KeyLookup) -> Agent:
        """Return the agent that a signature names, or raise a `KeySourceError`."""

    @abstractmethod
    def load(self, agent: Agent) -> Copy[Keys]:
        """Fetch the keys of an agent, or raise a `KeySourceError`."""

    def held(self, keyid: str) -> FoundKeys:  # noqa: ARG002 - a source may hold keys
        """Return the keys that the operator has."""
        return ()

    def select(self, keys: Keys, lookup: KeyLookup) -> FoundKeys:
        """Return the keys that a signature asks for."""
        return keys.get(lookup.keyid)

    def find(self, lookup: KeyLookup) -> FoundKeys:
        """Return the keys that `lookup.keyid` names at the URL that the signature names.

        Raises:
            KeySourceError: the signature names no agent, or the keys at the URL must not or cannot be fetched now.
        """
        return self._found(lookup) or finish(self._fetch(lookup, wait_in_thread))

    def async_find(self, lookup: KeyLookup) -> FoundKeys | Coroutine[object, None, FoundKeys]:
        """Return the keys as `find` does, or an awaitable of them if they have to be fetched."""
        return self._found(lookup) or self._fetch(lookup, wait_in_task)

    def _found(self, lookup: KeyLookup) -> FoundKeys:
        """Return the keys that may be used without waiting."""
        with suppress(KeySourceError):
            kept = self._kept(lookup)
            copy = kept.fresh()
            if copy is not None and has_keys(lookup, self._loader, copy):
                return self.select(copy.value, lookup)
        return ()

    async def _fetch(self, lookup: KeyLookup, wait: Wait) -> FoundKeys:
        held = self.held(lookup.keyid)
        try:
            found = await self._kept(lookup).get(partial(has_keys, lookup, self._loader), wait)
            return self.select(found, lookup) or held
        except KeySourceError:
            # Keys that the operator has excuse every failure.
            if not held:
                raise
        return held

    def _kept(self, lookup: KeyLookup) -> Kept[Keys]:
        agent = self.agent(lookup)
        return self._senders.kept(agent, agent.location, lambda _last: self.load(agent))


def trusted_urls(trusted: TrustedAgents) -> Callable[[str, str], bool]:
    """Return a function that tells whether keys may be fetched from a URL, by its canonical and its written form.

    Raises:
        ConfigurationError: `trusted` has something else than URLs.
    """
    if trusted is None:
        return lambda _location, _url: True
    if callable(trusted):
        return lambda location, _url: trusted(location)
    try:
        urls = frozenset(canonicalize(url).target_uri for url in trusted)
    except (TypeError, MalformedURL) as error:
        raise ConfigurationError(f"trusted: {error}; give URLs such as https://bot.example") from None
    return lambda location, url: location in urls or canonicalize(url, received=True).target_uri in urls

"""Named keys: sources that fetch what a signature names. Senders choose the URLs, so all fetches are bounded."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from undersigned.discovery.fetch import Target
from undersigned.discovery.kept import Flight, Kept, Loader
from undersigned.discovery.site import site_of
from undersigned.discovery.waiting import wait_in_task, wait_in_thread
from undersigned.errors import ConfigurationError, KeySourceError, MalformedURL
from undersigned.limits import LONGEST_BACKOFF
from undersigned.url import canonicalize
from undersigned.verification.asking import finish

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from undersigned.discovery.jwk_set import Keys
    from undersigned.discovery.kept import Copy
    from undersigned.discovery.waiting import Wait
    from undersigned.signature.key_source import KeyLookup
    from undersigned.signature.verification_key import VerificationKey

FoundKeys: TypeAlias = "tuple[VerificationKey, ...]"

TrustedAgents: TypeAlias = Collection[str] | Callable[[str], bool] | None
"""The agents whose keys may be fetched: URLs as senders write them, or a function of the URL to fetch. None: all."""

_A_MINUTE = 60.0
_MOST_FOR_A_SITE = 2


class Bucket:
    """A bound on how many may happen in a minute; as many may happen at once after a quiet minute.

    Args:
        a_minute: how many.
        clock: seconds that never go back.
    """

    def __init__(self, a_minute: int, clock: Callable[[], float]) -> None:
        self._a_minute, self._clock = a_minute, clock
        self._left, self._since = float(a_minute), clock()

    def take(self) -> bool:
        """Count one, and return whether it may happen."""
        now = self._clock()
        refilled = self._left + (now - self._since) * self._a_minute / _A_MINUTE
        self._left, self._since = min(float(self._a_minute), refilled), now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Senders:
    """What is kept of the documents that senders name: a bounded number, fetched at a bounded rate (WBA section 6.7).

    What a stranger names does not cost a known sender anything. A document that gave no keys never displaces one that
    did. A quarter of the places for fetches is for known senders, and so is a rate of their own.

    Args:
        loader: has the network, the freshness and the clock.
        most: how many of each kind are kept.
        at_once: the fetches in flight; at most two for all hosts of one domain.
        a_minute: the fetches in a minute of documents that were not read yet. As many are made for keys that a known
            document does not have.

    Raises:
        ConfigurationError: failures are remembered for longer than five minutes.
    """

    def __init__(self, loader: Loader, *, most: int, at_once: int, a_minute: int) -> None:
        if loader.freshness.interval > LONGEST_BACKOFF:
            raise ConfigurationError(f"freshness: give an interval of at most {LONGEST_BACKOFF} seconds")
        self.loader = loader
        self._most = most
        self._at_once = at_once
        self._new_fetches, self._known_fetches = Bucket(a_minute, loader.clock), Bucket(a_minute, loader.clock)
        self._flights: list[Flight] = []
        self._known: OrderedDict[Hashable, Kept[Keys]] = OrderedDict()
        self._new: OrderedDict[Hashable, Kept[Keys]] = OrderedDict()
        self._lock = threading.Lock()

    def kept(self, name: Hashable, url: str, load: Callable[[Copy[Keys] | None], Copy[Keys]]) -> Kept[Keys]:
        """Return what is kept under a name."""
        with self._lock:
            kept = self._known.get(name)
            if kept is not None:
                self._known.move_to_end(name)
                return kept
            kept = self._new.get(name)
            if kept is None:
                site = site_of(Target.of(url).host)
                kept = Kept(url, site, load, self.loader, senders=self, is_empty=lambda keys: keys.is_empty)
                self._add(self._new, name, kept)
            elif _gave_keys(kept):
                del self._new[name]
                self._add(self._known, name, kept)
            return kept

    def _add(self, kept_by_name: OrderedDict[Hashable, Kept[Keys]], name: Hashable, kept: Kept[Keys]) -> None:
        if len(kept_by_name) >= self._most:
            oldest, displaced = kept_by_name.popitem(last=False)
            if kept_by_name is self._new and _gave_keys(displaced):
                self._add(self._known, oldest, displaced)
        kept_by_name[name] = kept

    def enter(self, flight: Flight, *, is_known: bool, is_wanted: bool) -> Flight:
        """Return the flight if it may begin, or another flight to wait for before.

        Args:
            flight: the fetch that is to begin.
            is_known: whether the document was fetched before.
            is_wanted: whether it is fetched for something that the last copy does not have.

        Raises:
            KeySourceError: too many fetches begin.
        """
        with self._lock:
            self._flights = [one for one in self._flights if not one.is_over()]
            same = [one for one in self._flights if one.site == flight.site]
            if len(same) >= _MOST_FOR_A_SITE:
                return same[0]
            if len(self._flights) >= (self._at_once if is_known else self._at_once - self._at_once // 4):
                return self._flights[0]
            if (is_wanted or not is_known) and not (self._known_fetches if is_known else self._new_fetches).take():
                raise KeySourceError(
                    "signature_jwks_unavailable",
                    "too many keys of new senders are fetched: raise most_a_minute if these are wanted",
                )
            self._flights.append(flight)
            return flight


def _gave_keys(kept: Kept[Keys]) -> bool:
    last = kept.last()
    return last is not None and any(True for _ in last)


class NamedAgent(Protocol):
    """An agent that a signature names. Two equal agents have the same keys."""

    @property
    def location(self) -> str:
        """The URL to fetch."""
        ...

    def __hash__(self) -> int: ...


Agent = TypeVar("Agent", bound=NamedAgent)


class NamedKeys(ABC, Generic[Agent]):
    """A key source that fetches the keys of the agent that a signature names. Each kind of agent extends it."""

    __slots__ = ("_senders",)

    blocking = True

    def __init__(self, senders: Senders) -> None:
        self._senders = senders

    @abstractmethod
    def agent(self, lookup: KeyLookup) -> Agent:
        """Return the agent that a signature names, or raise a `KeySourceError`."""

    @abstractmethod
    def load(self, agent: Agent) -> Copy[Keys]:
        """Fetch the keys of an agent, or raise a `KeySourceError`."""

    def held(self, keyid: str) -> FoundKeys:  # noqa: ARG002 - a source may hold keys
        """Return the keys that the operator has."""
        return ()

    def is_enough(self, copy: Copy[Keys], lookup: KeyLookup) -> bool:
        """Return whether a copy has what a signature asks for, so that it is not fetched again."""
        return lookup.keyid in copy.value

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
            if copy is not None and self.is_enough(copy, lookup):
                return self.select(copy.value, lookup)
        return ()

    async def _fetch(self, lookup: KeyLookup, wait: Wait) -> FoundKeys:
        held = self.held(lookup.keyid)
        try:
            found = await self._kept(lookup).get(lambda copy: self.is_enough(copy, lookup), wait)
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

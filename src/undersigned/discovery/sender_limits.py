"""What senders name: sources that fetch the keys of the agent that a signature names, within limits for all senders."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from undersigned.discovery.document_cache import Kept, Loader
from undersigned.discovery.fetch import Target
from undersigned.discovery.fetching_key_source import KeptKeys
from undersigned.discovery.registrable_domain import site_of
from undersigned.errors import ConfigurationError, KeySourceError, MalformedURL
from undersigned.limits import LONGEST_BACKOFF
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from undersigned.discovery.document_cache import Copy, Flight
    from undersigned.discovery.freshness import Freshness
    from undersigned.discovery.jwk_set import Keys
    from undersigned.discovery.network import Network
    from undersigned.signature.key_source import KeyLookup

_A_MINUTE = 60.0
_MOST_FOR_A_SITE = 2
_MOST_HANGING = 4

TrustedAgents: TypeAlias = Collection[str] | Callable[[str], bool] | None
"""The agents whose keys may be fetched: URLs as senders write them, or a function of the URL to fetch. None: all."""

Agent = TypeVar("Agent", bound=Hashable)
"""An agent that a signature names. Two equal agents have the same keys."""


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


class NamedKeys(KeptKeys, Generic[Agent]):
    """A key source that fetches the keys of the agent that a signature names. Each kind of agent extends it.

    Senders choose the URLs, so a bounded number of documents is kept, and fetched at a bounded rate (WBA section 6.7).
    What an unknown sender names costs a known sender nothing. A document that gave no keys never displaces one that
    did. A quarter of the places for fetches is for known senders, and so is a rate of their own. A fetch that hangs
    keeps its place for a quarter of `wait_timeout` only: whoever owns slow servers does not keep others from beginning.

    Args:
        network: which addresses may be reached, and in what time.
        freshness: how long keys are used.
        clock: seconds that never go back.
        most: how many documents are kept that gave keys, and how many that did not.
        at_once: the fetches in flight; at most two for all hosts of one domain. With those that hang, four times as
            many.
        a_minute: the fetches in a minute of documents that were not read yet. As many are made for keys that a known
            document does not have.

    Raises:
        ConfigurationError: failures are remembered for longer than five minutes.
    """

    __slots__ = ("_at_once", "_flights", "_known", "_known_fetches", "_most", "_new", "_new_fetches")

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
        if freshness.interval > LONGEST_BACKOFF:
            raise ConfigurationError(f"freshness: give an interval of at most {LONGEST_BACKOFF} seconds")
        super().__init__(Loader(network, freshness, clock))
        self._most, self._at_once = most, at_once
        self._new_fetches, self._known_fetches = Bucket(a_minute, clock), Bucket(a_minute, clock)
        self._flights: list[Flight] = []
        self._known: OrderedDict[Agent, Kept[Keys]] = OrderedDict()
        self._new: OrderedDict[Agent, Kept[Keys]] = OrderedDict()

    @abstractmethod
    def agent(self, lookup: KeyLookup) -> tuple[Agent, str]:
        """Return the agent that a signature names, and the URL to fetch, or raise a `KeySourceError`."""

    @abstractmethod
    def load(self, agent: Agent) -> Copy[Keys]:
        """Fetch the keys of an agent, or raise a `KeySourceError`."""

    def kept(self, lookup: KeyLookup) -> Kept[Keys]:
        """Return the document of the agent that a signature names."""
        agent, url = self.agent(lookup)
        with self._loader.lock:
            kept = self._known.get(agent)
            if kept is not None:
                self._known.move_to_end(agent)
                return kept
            kept = self._new.get(agent)
            if kept is None:
                site = site_of(Target.of(url).host)

                def load(_last: object) -> Copy[Keys]:
                    return self.load(agent)

                kept = Kept(url, site, load, self._loader, gate=self._enter)
                self._add(self._new, agent, kept)
            elif _gave_keys(kept):
                del self._new[agent]
                self._add(self._known, agent, kept)
            return kept

    def _add(self, kept_by_agent: OrderedDict[Agent, Kept[Keys]], agent: Agent, kept: Kept[Keys]) -> None:
        if len(kept_by_agent) >= self._most:
            oldest, displaced = kept_by_agent.popitem(last=False)
            if kept_by_agent is self._new and _gave_keys(displaced):
                self._add(self._known, oldest, displaced)
        kept_by_agent[agent] = kept

    def _enter(self, flight: Flight, is_known: bool, is_wanted: bool) -> Flight:  # noqa: FBT001 - a `Gate`
        """Return the flight if it may begin, or another flight to wait for before; as `Gate` says."""
        self._flights = [one for one in self._flights if not one.is_over()]
        same = [one for one in self._flights if one.site == flight.site]
        if len(same) >= _MOST_FOR_A_SITE:
            return same[0]
        now = time.monotonic()
        placed = [one for one in self._flights if now < one.yields_at]
        for flights, most in ((placed, self._at_once), (self._flights, self._at_once * _MOST_HANGING)):
            if len(flights) >= (most if is_known else most - most // 4):
                return flights[0]
        if (is_wanted or not is_known) and not (self._known_fetches if is_known else self._new_fetches).take():
            raise KeySourceError(
                "signature_jwks_unavailable",
                "too many keys of new senders are fetched: raise most_a_minute if these are wanted",
            )
        self._flights.append(flight)
        return flight


def _gave_keys(kept: Kept[Keys]) -> bool:
    last = kept.last_value()
    return last is not None and any(True for _ in last)


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

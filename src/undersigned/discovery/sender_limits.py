"""Limits on what senders make a source fetch and keep: how many documents, at once, in a minute and of one domain."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from undersigned.discovery.document_cache import Kept
from undersigned.discovery.fetch import Target
from undersigned.discovery.registrable_domain import site_of
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.limits import LONGEST_BACKOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from undersigned.discovery.document_cache import Copy, Flight, Loader
    from undersigned.discovery.jwk_set import Keys

_A_MINUTE = 60.0
_MOST_FOR_A_SITE = 2
_MOST_HANGING = 4


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

    What an unknown sender names costs a known sender nothing. A document that gave no keys never displaces one that
    did. A quarter of the places for fetches is for known senders, and so is a rate of their own. A fetch that hangs
    keeps its place for a quarter of `wait_timeout` only: whoever owns slow servers does not keep others from beginning.

    Args:
        loader: has the network, the freshness and the clock.
        most: how many of each kind are kept.
        at_once: the fetches in flight; at most two for all hosts of one domain. With those that hang, four times as
            many.
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

    def kept(self, name: Hashable, url: str, load: Callable[[Copy[Keys] | None], Copy[Keys]]) -> Kept[Keys]:
        """Return what is kept under a name."""
        with self.loader.lock:
            kept = self._known.get(name)
            if kept is not None:
                self._known.move_to_end(name)
                return kept
            kept = self._new.get(name)
            if kept is None:
                site = site_of(Target.of(url).host)
                kept = Kept(url, site, load, self.loader, gate=self.enter, is_empty=lambda keys: keys.is_empty)
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

    def enter(self, flight: Flight, is_known: bool, is_wanted: bool) -> Flight:  # noqa: FBT001 - a `Gate`
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

"""Allowances: bounds on the fetches that senders cause before they prove who they are (Web Bot Auth section 6.7)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError, KeySourceError

if TYPE_CHECKING:
    from collections.abc import Callable

_A_MINUTE = 60.0
_SOON = 1.0


class Allowance:
    """A bound on the fetches in flight, and on those that begin each minute for URLs that gave no keys yet.

    Args:
        at_once: the fetches in flight.
        a_minute: the fetches of new URLs in a minute; as many at once after a quiet minute.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: a number is not a whole number of 1 or more.
    """

    __slots__ = ("_a_minute", "_at_once", "_clock", "_flying", "_left", "_lock", "_since")

    def __init__(self, *, at_once: int, a_minute: int, clock: Callable[[], float]) -> None:
        for option, value in (("most_at_once", at_once), ("most_a_minute", a_minute)):
            if type(value) is not int or value < 1:
                raise ConfigurationError(f"{option}: give a whole number of fetches, at least 1")
        self._at_once = at_once
        self._a_minute = a_minute
        self._clock = clock
        self._flying = 0
        self._left = float(a_minute)
        self._since = clock()
        self._lock = threading.Lock()

    def check(self) -> None:
        """Check that the fetch of a new URL could begin now.

        Raises:
            KeySourceError: it could not.
        """
        with self._lock:
            self._refill()
            if self._flying >= self._at_once or self._left < 1:
                raise _too_many()

    def begin(self, *, is_known: bool) -> None:
        """Begin a fetch; `end` ends it.

        Args:
            is_known: whether the URL gave keys before.

        Raises:
            KeySourceError: too many are in flight, or too many new URLs were fetched.
        """
        with self._lock:
            self._refill()
            if self._flying >= self._at_once or (not is_known and self._left < 1):
                raise _too_many()
            self._flying += 1
            if not is_known:
                self._left -= 1

    def end(self) -> None:
        """End a fetch that began."""
        with self._lock:
            self._flying -= 1

    def _refill(self) -> None:
        now = self._clock()
        self._left = min(float(self._a_minute), self._left + (now - self._since) * self._a_minute / _A_MINUTE)
        self._since = now


def _too_many() -> KeySourceError:
    return KeySourceError(
        "signature_jwks_unavailable",
        "too many keys of new senders are fetched: raise most_at_once or most_a_minute if these senders are wanted",
        retry_after=_SOON,
    )

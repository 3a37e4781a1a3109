"""The cache of one source: when to fetch again, and what to answer until then. It does no IO."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from undersigned.errors import KeySourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.discovery.freshness import Freshness

Value = TypeVar("Value")

AHEAD: Final = 0.1
"""How early a background refresh comes: this part of the lifetime before its end, and no more than the interval."""


@dataclass(frozen=True, slots=True)
class Copy(Generic[Value]):
    """A document as it was last fetched. Times are those of the cache's clock.

    Attributes:
        value: what was read from the document.
        fetched: when its fetch began.
        fresh_until: when it is to be fetched again.
        validators: the header fields of a conditional request for it.
    """

    value: Value
    fetched: float
    fresh_until: float
    validators: tuple[tuple[str, str], ...] = ()


class Cache(Generic[Value]):
    """The last good copy of a document, and what is known of fetching it.

    Only one fetch at a time calls `store` or `fail`. Any thread may read at any time, because each change replaces one
    attribute.

    Args:
        freshness: how long a copy is used.
        clock: seconds that never go back.
        ahead: how early a background refresh comes, as a part of the lifetime.
    """

    __slots__ = ("_ahead", "_clock", "_copy", "_failure", "_freshness", "_retry_at", "_sought")

    def __init__(
        self, freshness: Freshness, clock: Callable[[], float] = time.monotonic, *, ahead: float = AHEAD
    ) -> None:
        self._ahead = ahead
        self._freshness = freshness
        self._clock = clock
        self._copy: Copy[Value] | None = None
        self._failure: KeySourceError | None = None
        self._retry_at = -math.inf
        self._sought = -math.inf

    @property
    def copy(self) -> Copy[Value] | None:
        """The last good copy, whatever its age."""
        return self._copy

    def now(self) -> float:
        """Return the clock's time."""
        return self._clock()

    def fresh(self) -> Value | None:
        """Return the value while it is fresh."""
        copy = self._copy
        return copy.value if copy is not None and self._clock() < copy.fresh_until else None

    def answer(self) -> Value:
        """Return the value if it is fresh, or stale but not too old.

        Raises:
            KeySourceError: there is no value, or it is too old.
        """
        copy = self._copy
        if copy is not None and self._clock() < copy.fresh_until + self._freshness.stale:
            return copy.value
        raise self.failure or KeySourceError(
            "signature_jwks_unavailable", "the fetch has not ended, or the source was closed"
        )

    @property
    def failure(self) -> KeySourceError | None:
        """Why the last fetch failed, or None if it did not; a new exception each time, to be raised."""
        if self._failure is None:
            return None
        # An exception that is raised again and again keeps the frames of every time.
        failure = KeySourceError(self._failure.reason, str(self._failure), retry_after=self._failure.retry_after)
        failure.__cause__ = self._failure
        return failure

    def is_due(self, *, since: float, satisfied: Callable[[Value], bool]) -> bool:
        """Return whether the document is to be fetched now for a request.

        Args:
            since: when the request came. A document fetched later is not fetched again for it.
            satisfied: tells whether a value has what the request looks for.
        """
        now, copy = self._clock(), self._copy
        if self._failure is not None and now < self._retry_at:
            return False
        if copy is None or now >= copy.fresh_until:
            return True
        sought = now < self._sought + self._freshness.interval
        return not sought and copy.fetched < since and not satisfied(copy.value)

    def claim(self, *, since: float, satisfied: Callable[[Value], bool]) -> bool:
        """Return what `is_due` returns, and note if the fetch is for something that a fresh copy does not have.

        Only one caller at a time may call this. If the answer is True, it must fetch.
        """
        due = self.is_due(since=since, satisfied=satisfied)
        if due and self.fresh() is not None:
            self._sought = self._clock()
        return due

    def refresh_at(self) -> float:
        """Return when a background refresh is to fetch, so that no request has to wait."""
        copy = self._copy
        if self._failure is not None:
            return self._retry_at
        if copy is None:
            return -math.inf
        ahead = min(self._freshness.interval, self._ahead * (copy.fresh_until - copy.fetched))
        return copy.fresh_until - ahead

    def store(self, copy: Copy[Value]) -> None:
        """Keep a copy that was fetched."""
        self._copy = copy
        self._failure = None

    def fail(self, failure: KeySourceError) -> None:
        """Note that a fetch failed, and drop the copy if it must not be used any more."""
        wait = self._freshness.interval if failure.retry_after is None else failure.retry_after
        self._retry_at = self._clock() + wait
        self._failure = failure
        if failure.definite:
            self._copy = None

"""Allowances of log lines: how many lines a middleware writes about what any sender can cause."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from undersigned.limits import MOST_LINE_KINDS, MOST_LINES, SECONDS_PER_LINE

if TYPE_CHECKING:
    from collections.abc import Callable


class LineAllowance:
    """A bound on the lines of each kind that one middleware writes: a few at once, then one a minute.

    Senders choose how many requests are rejected. Without a bound, they could fill a disk, or hide one line among
    many. Safe to share between threads.

    Args:
        clock: seconds that never go back.
    """

    __slots__ = ("_clock", "_kinds", "_lock")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kinds: dict[str, _Kind] = {}
        self._lock = threading.Lock()

    def take(self, kind: str) -> str | None:
        """Return what to add to a line about how many lines are left out, or None if this line must be left out.

        Args:
            kind: what the line is about, such as the code of a rejection. After 64 kinds, all others count as one.
        """
        with self._lock:
            now = self._clock()
            lines = self._kinds.get(kind)
            if lines is None:
                named = kind if len(self._kinds) < MOST_LINE_KINDS else ""
                lines = self._kinds.setdefault(named, _Kind(now))
            return lines.take(now)


class _Kind:
    """The lines of one kind.

    Attributes:
        left: how many lines may be written at once.
        since: when `left` was counted.
        left_out: how many lines were left out since the last one.
    """

    __slots__ = ("left", "left_out", "since")

    def __init__(self, now: float) -> None:
        self.left = float(MOST_LINES)
        self.since = now
        self.left_out = 0

    def take(self, now: float) -> str | None:
        left = self.left + (now - self.since) / SECONDS_PER_LINE
        if left < 1:
            self.left_out += 1
            return None
        self.left, self.since = min(left, MOST_LINES) - 1, now
        left_out, self.left_out = self.left_out, 0
        if left_out:
            return f" ({left_out} such lines were left out since the last one)"
        return " (from now on at most one such line a minute)" if self.left < 1 else ""

"""The last decisions of an application, kept in memory with their evidence."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned import ConfigurationError

if TYPE_CHECKING:
    from undersigned import Decision
    from undersigned.middleware import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """A decision with its evidence.

    Attributes:
        number: the number of the decision, from 1.
        at: when the decision was made, in seconds since the epoch.
        decision: the decision.
        evidence: what it was made of, without credentials.
    """

    number: int
    at: float
    decision: Decision
    evidence: Evidence


class KeptDecisions:
    """The last decisions, numbered. Safe to share between threads.

    Args:
        most: how many decisions are kept; the oldest is dropped first.

    Raises:
        ConfigurationError: `most` is not a positive number.
    """

    def __init__(self, *, most: int = 200) -> None:
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise ConfigurationError("most: give the number of decisions to keep, such as 200")
        self._lock = threading.Lock()
        self._kept: deque[Inspected] = deque(maxlen=most)
        self._count = 0

    def keep(self, decision: Decision, evidence: Evidence) -> None:
        """Keep a decision."""
        with self._lock:
            self._count += 1
            self._kept.append(Inspected(number=self._count, at=time.time(), decision=decision, evidence=evidence))

    def after(self, number: int) -> tuple[Inspected, ...]:
        """Return the kept decisions with a greater number than `number`, oldest first."""
        with self._lock:
            return tuple(one for one in self._kept if one.number > number)

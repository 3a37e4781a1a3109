"""Budget: how much a search may try, in verifications and in time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_VERIFICATIONS: Final = 3000
"""The most verifications of one search. Each takes some 100 us with an Ed25519 key."""

MOST_SECONDS: Final = 0.75
"""The most seconds of one search. The whole explanation then takes at most a second."""


class Budget:
    """A count of the verifications of one search, which says when to end it.

    Args:
        verifications: how many there may be.
        seconds: how long the search may take.
        clock: returns seconds that only increase.

    Attributes:
        spent: the verifications so far.
    """

    __slots__ = ("_clock", "_end", "_most", "spent")

    def __init__(
        self,
        verifications: int = MOST_VERIFICATIONS,
        *,
        seconds: float = MOST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = verifications
        self._clock = clock
        self._end = clock() + seconds
        self.spent = 0

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be tried."""
        return self.spent >= self._most or self._clock() >= self._end

"""A row of a benchmark, and how its two sides are timed."""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured.

    Attributes:
        name: what is timed.
        floor: what it is held against.
        ratio: the one over the other, both measured in this run; or a plain figure where `unit` is not empty.
        reach: the ratio to stay within, or None where the row only informs.
        unit: what a plain figure counts.
    """

    name: str
    floor: str
    ratio: float
    reach: float | None = None
    unit: str = ""

    @property
    def holds(self) -> bool:
        return self.reach is None or self.ratio <= self.reach


def interleaved(rounds: int, *sides: Callable[[int], object]) -> list[float]:
    """Time the sides one after the other, round after round; return each one's median seconds.

    Each side gets the number of the round, so that it can use an input nobody has used before.
    """
    taken: list[list[float]] = [[] for _ in sides]
    clock = time.perf_counter
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            for side, times in zip(sides, taken, strict=True):
                begun = clock()
                side(turn)
                times.append(clock() - begun)
    finally:
        gc.enable()
    return [statistics.median(times) for times in taken]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table a person reads."""
    lines = [("what", "against", "measured", "reach", "")]
    for row in rows:
        measured = f"{row.ratio:.2f}" if not row.unit else f"{row.ratio:.0f} {row.unit}"
        lines.append(
            (
                row.name,
                row.floor,
                measured,
                "" if row.reach is None else f"{row.reach:g}",
                "" if row.reach is None else "ok" if row.holds else "OVER",
            )
        )
    widths = [max(len(line[at]) for line in lines) for at in range(5)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)

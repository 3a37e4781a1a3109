"""A row of a benchmark, and how its sides are timed."""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured.

    Attributes:
        name: what is timed.
        floor: what it is compared with.
        ratio: the one divided by the other, both measured in this run; or a plain figure if `unit` is not empty.
        goal: the highest acceptable ratio, or None if the row only informs.
        unit: what a plain figure counts.
    """

    name: str
    floor: str
    ratio: float
    goal: float | None = None
    unit: str = ""

    @property
    def holds(self) -> bool:
        return self.goal is None or self.ratio <= self.goal

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "floor": self.floor,
            "measured": round(self.ratio, 3),
            "unit": self.unit or "x",
            "goal": self.goal,
            "holds": self.holds,
        }


@dataclass(frozen=True, slots=True)
class Side:
    """One of the things that are compared.

    Attributes:
        run: what is timed; it gets what `prepare` has made.
        prepare: makes the input of a round from its number, untimed and right before: as warm as a server has it.
    """

    run: Callable[[object], object]
    prepare: Callable[[int], object] = int


def _turns(rounds: int, sides: Sequence[T], taken: list[list[float]]) -> Iterator[tuple[int, T, list[float]]]:
    """Yield the sides one after the other, round after round, each with its list of times; no garbage is collected."""
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            yield from ((turn, side, times) for side, times in zip(sides, taken, strict=True))
    finally:
        gc.enable()


def interleave(rounds: int, *sides: Side) -> list[float]:
    """Time the sides one after the other, round after round; return each one's median seconds."""
    taken: list[list[float]] = [[] for _ in sides]
    clock = time.perf_counter
    for turn, side, times in _turns(rounds, sides, taken):
        given = side.prepare(turn)
        begun = clock()
        side.run(given)
        times.append(clock() - begun)
    return [statistics.median(times) for times in taken]


async def interleave_async(rounds: int, *sides: Callable[[int], Awaitable[object]]) -> list[float]:
    """As `interleave`, on the running event loop."""
    taken: list[list[float]] = [[] for _ in sides]
    clock = time.perf_counter
    for turn, side, times in _turns(rounds, sides, taken):
        waiting = side(turn)
        begun = clock()
        await waiting
        times.append(clock() - begun)
    return [statistics.median(times) for times in taken]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table a person reads."""
    lines = [("what", "against", "measured", "goal", "")]
    for row in rows:
        measured = f"{row.ratio:.2f}" if not row.unit else f"{row.ratio:,.0f} {row.unit}"
        goal = "" if row.goal is None else f"{row.goal:g}"
        verdict = "" if row.goal is None else "ok" if row.holds else "OVER"
        lines.append((row.name, row.floor, measured, goal, verdict))
    widths = [max(len(line[at]) for line in lines) for at in range(5)]
    written = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
    return "\n".join(written)

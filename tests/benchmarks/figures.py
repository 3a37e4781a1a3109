"""The figures of several runs, as a JSON document has them: the median, the lowest and the highest of each row."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

BY_LIBRARY: Final = ("verify", "sign", "middleware", "peers", "servers", "processor")
"""The benchmarks that are run once by each library of Ed25519."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What several runs measured.

    Attributes:
        median: of the runs.
        lowest: the least of them.
        highest: the most of them.
        goal: the highest acceptable median, or the lowest if more is better.
        holds: whether it is met.
        unit: what it counts; "x" is a ratio.
    """

    median: float
    lowest: float
    highest: float
    goal: float | None
    holds: bool
    unit: str


class Figures:
    """The content of a document.

    Args:
        document: what `merged` made.
    """

    def __init__(self, document: Mapping[str, object]) -> None:
        self.machine: Mapping[str, str] = document["machine"]
        self.functions: Sequence[tuple[float, str, str]] = document["functions"]
        self.runs = min(row["runs"] for row in document["rows"])
        self._rows = {(row["benchmark"], row["library"], row["name"], row["floor"]): row for row in document["rows"]}

    @classmethod
    def read(cls, path: Path) -> Figures:
        return cls(json.loads(path.read_text("utf-8")))

    def get(self, benchmark: str, name: str, floor: str | None = None, *, library: str = "OpenSSL") -> Figure | None:
        """Return the figure of a row, or None if nothing was measured."""
        by = library if benchmark in BY_LIBRARY else None
        for (of, measured_by, named, against), row in self._rows.items():
            if (of, measured_by, named) == (benchmark, by, name) and floor in (None, against):
                return Figure(row["measured"], row["lowest"], row["highest"], row["goal"], row["holds"], row["unit"])
        return None

    def compared(self, benchmark: str) -> list[tuple[str, str]]:
        """Return the names of a benchmark's rows, and what each is compared with."""
        return list(dict.fromkeys((name, floor) for of, _, name, floor in self._rows if of == benchmark))


def merge(runs: Sequence[Sequence[Mapping[str, object]]]) -> list[dict[str, object]]:
    """Merge the rows of several runs of one benchmark, which are in the same order in each.

    The name of a row can say what was the worst. It is that of the run with the median.
    """
    found = []
    for rows in zip(*runs, strict=True):
        measured = [row["measured"] for row in rows]
        middle = statistics.median_high(measured)
        row = next(row for row in rows if row["measured"] == middle)
        found.append({**row, "lowest": min(measured), "highest": max(measured), "runs": len(rows)})
    return found

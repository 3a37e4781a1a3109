"""The report of a conformance run: a table of the sets, then each failure with its first difference marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from undersigned.cli.columns import NARROWEST, lines
from undersigned.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from undersigned.cli.lines import Answer
    from undersigned.conformance import Difference, Grade, SetAside

_HEADERS = ("set", "passed", "failed", "total")


@dataclass(frozen=True, slots=True)
class SetGrades:
    """The grades of the vectors of one set.

    Attributes:
        name: the name of the set.
        grades: the grade of each vector, in order.
    """

    name: str
    grades: Sequence[Grade]

    @property
    def passed(self) -> int:
        """The number of vectors that passed."""
        return sum(grade.passed for grade in self.grades)

    @property
    def failed(self) -> int:
        """The number of vectors that failed."""
        return len(self.grades) - self.passed

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The row of the table: name, passed, failed, total."""
        return printable(self.name), str(self.passed), str(self.failed), str(len(self.grades))


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a corpus.

    Attributes:
        sets: the results of each set.
        set_aside: the vectors that were not run.
    """

    sets: Sequence[SetGrades]
    set_aside: Sequence[SetAside]

    @property
    def failed(self) -> int:
        """The number of vectors that failed."""
        return sum(grades.failed for grades in self.sets)

    @property
    def summary(self) -> str:
        """The last line of the report."""
        return f"{sum(grades.passed for grades in self.sets)} passed, {self.failed} failed"

    def show(self, console: Console) -> None:
        """Print the table, the vectors not run, the failures and the summary: in colour on a terminal only."""
        console.print(self._table(plain=not console.is_terminal))
        if self.set_aside:
            console.print("\nnot run and not counted:")
        for aside in self.set_aside:
            _print(console, f"  {printable(aside.name)}: {aside.count} {aside.reason}")
        for name, vector, difference in self._differences():
            _print(console, f"\nFAILED {printable(name)}: {printable(vector)}: {difference.subject}", "bold red")
            _show_difference(console, difference)
        console.print()
        console.print(self.summary)

    def json(self) -> Answer:
        """Return the report as a JSON object."""
        return {
            "passed": sum(grades.passed for grades in self.sets),
            "failed": self.failed,
            "sets": [dict(zip(_JSON, _numbers(grades), strict=True)) for grades in self.sets],
            "not_run": [
                {"set": aside.name, "vectors": aside.count, "reason": aside.reason} for aside in self.set_aside
            ],
            "failures": [
                {
                    "set": name,
                    "vector": vector,
                    "subject": difference.subject,
                    "expected": difference.expected,
                    "found": difference.found,
                    "first_differing_byte": difference.byte,
                    "note": difference.note,
                }
                for name, vector, difference in self._differences()
            ],
        }

    def _table(self, *, plain: bool) -> Table:
        table = Table(box=None if plain else box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for header in _HEADERS:
            table.add_column(header, justify="left" if header == "set" else "right", overflow="fold")
        for grades in self.sets:
            table.add_row(*grades.cells, style="red" if grades.failed else "")
        return table

    def _differences(self) -> Iterator[tuple[str, str, Difference]]:
        for grades in self.sets:
            for grade in grades.grades:
                if grade.difference is not None:
                    yield grades.name, grade.name, grade.difference


_JSON = ("name", "passed", "failed", "total")


def _numbers(grades: SetGrades) -> tuple[str, int, int, int]:
    return grades.name, grades.passed, grades.failed, len(grades.grades)


def _show_difference(console: Console, difference: Difference) -> None:
    width = max(NARROWEST, (console.width - len("    ")) // 2)
    for line, is_mark in lines(difference, width=width):
        _print(console, f"  {line}", "bold red" if is_mark else "")
    if difference.expected:
        _print(console, f"  first differing byte: {difference.byte}")
    if difference.note:
        _print(console, f"  {printable(difference.note)}")


def _print(console: Console, line: str, style: str = "") -> None:
    # Not wrapped, because that would break the columns. The terminal folds lines that are too long.
    console.print(Text(line, style), soft_wrap=True)

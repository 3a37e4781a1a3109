"""The report: the results of the trial, as tables."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .attempts import ATTEMPTS
from .buyers import HTTPXBuyer, RequestsBuyer
from .trial import TIMED, Row, running_trial, seconds_to_verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .buyers import Buyer


def show() -> bool:
    """Run the trial, print its tables, and return whether every answer was as expected."""
    console = Console(highlight=False)
    rows: list[Row] = []
    with running_trial() as trial:
        console.print(f"FastAPI under uvicorn: {trial.origins['FastAPI']}")
        console.print(f"Flask under waitress: {trial.origins['Flask']}")
        for buyer in (RequestsBuyer(), HTTPXBuyer()):
            with closing(buyer):
                own = list(trial.rows(ATTEMPTS, buyer))
            console.print("", _table(buyer, own, sellers=list(trial.origins)), sep="\n")
            rows += own
    passed = sum(row.passed for row in rows)
    console.print(f"\n{passed} of {len(rows)} checks passed.")
    console.print(f"Verifying takes {seconds_to_verify() * 1000:.2f} ms here (median of {TIMED}, in process).")
    return passed == len(rows)


def _table(buyer: Buyer, rows: Sequence[Row], *, sellers: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for header in (f"sent by {buyer.name}", *sellers, "why", ""):
        # Cells are folded: a truncated cell would end in an ellipsis, which some encodings lack.
        table.add_column(header, overflow="fold")
    for row in rows:
        statuses = [str(row.answers[seller].status) for seller in sellers]
        table.add_row(row.attempt.name, *statuses, *_result(row))
    return table


def _result(row: Row) -> tuple[Text, Text]:
    if row.passed:
        return Text(row.why), Text("ok", "green")
    expected = row.attempt.answer
    return Text(f"{row.why}\nexpected: {expected.status} {expected.why}"), Text("NO", "bold red")

"""The table of `docs/canonicalization.md`, made from the catalogue: one row per rule, one column per rule set.

`python -m tests.docs.test_canonicalization` updates the page.
"""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from undersigned import normalization
from undersigned.url import ADCP, ADCP_RECEIVED

if TYPE_CHECKING:
    from undersigned.url import Entry

DOCUMENTS = Path(__file__).parents[1] / "normalization" / "documents"
PAGE = Path(__file__).parents[2] / "docs" / "canonicalization.md"
NAMES = ("RFC3986_SYNTAX", "RFC3986_SCHEME", "IRI", "POWDER", "ATOM")
BEGIN, END = "<!-- the table, from the catalogue -->", "<!-- the table ends -->"
COLUMNS = {"ADCP": ADCP, **{name: getattr(normalization, name) for name in NAMES}}


def table() -> str:
    """Return the table. A number is the position of the rule in the rule set."""
    rows = [("rule", "effect", "preserves meaning", *(f"`{name}`" for name in COLUMNS), "source")]
    rows.append(tuple("---" for _ in rows[0]))
    rows += [
        (f"`{entry.name}`", entry.summary, entry.preserves, *(_place(entry, name) for name in COLUMNS), entry.source)
        for entry in normalization.CATALOGUE
    ]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def update_page(page: str) -> str:
    """Return the page with the current table."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _place(entry: Entry, name: str) -> str:
    names = [rule.name for rule in COLUMNS[name]]
    if entry.name in names:
        return str(names.index(entry.name) + 1)
    received = name == "ADCP" and entry.name == ADCP_RECEIVED[0].name
    return "received" if received else ""


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_table_on_the_page_is_up_to_date(page):
    assert update_page(page) == page, "run `python -m tests.docs.test_canonicalization`"


def test_stale_table_is_replaced(page):
    assert update_page(page.replace("| `hex-case` |", "| `hexcase` |")) == page


def test_examples_on_the_page_are_correct(page):
    examples = doctest.DocTestParser().get_doctest(page.replace("```", "\n"), {}, "canonicalization.md", None, 0)
    assert len(examples.examples) > 8
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_page_has_a_paragraph_on_each_document(page):
    for path in DOCUMENTS.glob("*.json"):
        assert f"**{json.loads(path.read_text())['about']}.**" in page


if __name__ == "__main__":
    PAGE.write_text(update_page(PAGE.read_text("utf-8")), "utf-8")

"""The table of `docs/canonicalization.md`, made from the catalogue: one row per rule, one column per rule set.

`python -m tests.docs.canonicalization` updates the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from undersigned.normalization import CATALOGUE, RULE_SETS
from undersigned.url import ADCP_RECEIVED

if TYPE_CHECKING:
    from undersigned.url import Entry

PAGE = Path(__file__).parents[2] / "docs" / "canonicalization.md"
BEGIN, END = "<!-- the table, from the catalogue -->", "<!-- the table ends -->"
COLUMNS = {
    "adcp": "`ADCP`",
    "rfc3986-syntax": "`RFC3986_SYNTAX`",
    "rfc3986-scheme": "`RFC3986_SCHEME`",
    "iri": "`IRI`",
    "powder": "`POWDER`",
    "atom": "`ATOM`",
}


def table() -> str:
    """Return the table. A number is the position of the rule in the rule set."""
    rows = [("rule", "effect", "preserves meaning", *COLUMNS.values(), "source")]
    rows.append(tuple("---" for _ in rows[0]))
    rows += [
        (f"`{entry.name}`", entry.summary, entry.preserves, *(_place(entry, name) for name in COLUMNS), entry.source)
        for entry in CATALOGUE
    ]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def update_page(page: str) -> str:
    """Return the page with the current table."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _place(entry: Entry, name: str) -> str:
    names = [rule.name for rule in RULE_SETS[name]]
    if entry.name in names:
        return str(names.index(entry.name) + 1)
    received = name == "adcp" and entry.name == ADCP_RECEIVED[0].name
    return "received" if received else ""


if __name__ == "__main__":
    PAGE.write_text(update_page(PAGE.read_text("utf-8")), "utf-8")

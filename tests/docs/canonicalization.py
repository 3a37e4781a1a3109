"""The table of `docs/canonicalization.md`: rules by policies, made from the catalogue.

`python -m tests.docs.canonicalization` tells whether the page is up to date; with `--write` it brings it so.
"""

from __future__ import annotations

import sys
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
    """The table: a cell holds the place of the rule in the policy's order."""
    rows = [("rule", "what it does", "preserves meaning", *COLUMNS.values(), "source")]
    rows.append(tuple("---" for _ in rows[0]))
    rows += [
        (f"`{entry.name}`", entry.summary, entry.preserves, *(_place(entry, name) for name in COLUMNS), entry.source)
        for entry in CATALOGUE
    ]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def written(page: str) -> str:
    """The page with the table as it should be."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _place(entry: Entry, name: str) -> str:
    names = [rule.name for rule in RULE_SETS[name]]
    if entry.name in names:
        return str(names.index(entry.name) + 1)
    received = name == "adcp" and entry.name == ADCP_RECEIVED[0].name
    return "received" if received else ""


def main(*, write: bool) -> int:
    """Write the page, or say whether it is up to date: 0 where it is."""
    page = PAGE.read_text(encoding="utf-8")
    if write:
        PAGE.write_text(written(page), encoding="utf-8")
        return 0
    return int(page != written(page))


if __name__ == "__main__":
    sys.exit(main(write="--write" in sys.argv[1:]))

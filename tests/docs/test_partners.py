"""The page for partners: its snippet runs, and its command writes the page to hand over."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.command import invoke

from undersigned import Verifier

DOCS = Path(__file__).parents[2] / "docs"


def snippet(page: str) -> str:
    return re.search(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text("utf-8"), re.DOTALL)[1]


def test_partners_keys_are_accepted_in_five_lines():
    source, made = snippet("partners"), {}
    assert len([line for line in source.splitlines() if line]) <= 5
    exec(source, made)  # noqa: S102 - the page's own snippet
    assert isinstance(made["verifier"], Verifier)


def test_command_of_the_page_writes_the_page_for_a_partner():
    page = (DOCS / "partners.md").read_text("utf-8")
    command = re.search(r"^\$ undersigned (.*) > partners.md$", page, re.MULTILINE)[1].split()
    assert invoke(*command).stdout.startswith("# Signing requests to https://shop.example.com/")

"""The page about RFC 9421: its example runs, and it names every algorithm."""

from __future__ import annotations

import re
from pathlib import Path

from undersigned.signature.algorithms import ALGORITHMS

PAGE = (Path(__file__).parents[2] / "docs" / "rfc9421.md").read_text("utf-8")


def test_example_on_the_page_is_correct():
    [snippet] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert "assert " in snippet
    exec(compile(snippet, "docs/rfc9421.md", "exec"), {})  # noqa: S102 - the page is ours


def test_page_names_every_algorithm():
    table = PAGE.partition("## Algorithms")[2].partition("\n## ")[0]
    assert {name for name in re.findall(r"`([a-z0-9_-]+)`", table) if "-" in name or name == "ed25519"} == ALGORITHMS

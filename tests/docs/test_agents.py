"""Every snippet of docs/agents.md is in an example, which tests/interop runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 8
SNIPPETS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/agents.md").read_text(), re.DOTALL)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


EXAMPLES = [lines(path.read_text()) for path in (ROOT / "examples").glob("*_*.py")]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: lines(snippet)[0][:40])
def test_snippet_is_in_one_example_and_has_at_most_eight_lines(snippet):
    shown = lines(snippet)
    assert len(shown) <= LONGEST
    assert [example for example in EXAMPLES if set(shown) <= set(example)]


def test_page_has_snippets_for_each_agent():
    assert len(SNIPPETS) == 7

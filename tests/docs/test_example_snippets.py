"""Every snippet of docs/agents.md and docs/webhooks.md is in an example, which another test runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = {"agents": 8, "webhooks": 10}
COUNTS = {"agents": 7, "webhooks": 3}


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


SNIPPETS = [
    (page, lines(snippet))
    for page in LONGEST
    for snippet in re.findall(r"```python\n(.*?)```", (ROOT / f"docs/{page}.md").read_text(), re.DOTALL)
]
EXAMPLES = [lines(path.read_text()) for path in (ROOT / "examples").glob("*_*.py")]


@pytest.mark.parametrize(("page", "shown"), SNIPPETS, ids=lambda part: part if isinstance(part, str) else part[0][:40])
def test_snippet_is_in_one_example_and_short(page, shown):
    assert len(shown) <= LONGEST[page]
    assert [example for example in EXAMPLES if set(shown) <= set(example)]


@pytest.mark.parametrize("page", COUNTS)
def test_page_has_all_its_snippets(page):
    assert [name for name, _ in SNIPPETS].count(page) == COUNTS[page]

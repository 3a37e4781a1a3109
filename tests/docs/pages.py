"""The text of pages, and their snippets, run as they are printed."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def snippets(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def run(*printed: str, **names: object) -> dict:
    """Run snippets one after the other, beside these names; return all names."""
    for snippet in printed:
        exec(compile(snippet, "a page", "exec", dont_inherit=True), names)  # noqa: S102 - the page's own words
    return names

"""The text of pages, and their snippets, run as they are printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def snippets(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@cache
def sections(name: str) -> dict[str, str]:
    """Return the first snippet of each section of a page."""
    found = re.findall(r"^## ([^\n]+)\n(?:(?!^## ).)*?```python\n(.*?)```", page(name), re.MULTILINE | re.DOTALL)
    return dict(found)


def program(name: str, file: str) -> str:
    """Return the program that a page calls by the name of a file."""
    return re.search(rf"```python\n# {re.escape(file)}\n(.*?)```", page(name), re.DOTALL)[1]


def tests_in(folder: Path, **variables: str) -> str:
    """Run pytest in a folder as a project of its own does, with warnings as errors; return what it prints."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(folder)]
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"} | variables
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=env)  # noqa: S603 - ours
    return done.stdout + done.stderr


def run(*printed: str, **names: object) -> dict:
    """Run snippets one after the other, beside these names; return all names."""
    for snippet in printed:
        exec(compile(snippet, "a page", "exec", dont_inherit=True), names)  # noqa: S102 - the page's own words
    return names

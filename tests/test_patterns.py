"""The package's regular expressions mean the same on every Python it supports."""

from __future__ import annotations

import re
from pathlib import Path

import undersigned

SOURCES = sorted(Path(undersigned.__file__).parent.rglob("*.py"))
CHARACTER_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")


def test_no_pattern_repeats_a_group_possessively():
    # CPython 3.11.0 to 3.11.4 match too much by (?:...)*+ (gh-106052); an atomic group (?>(?:...)*) is right on all.
    found = [
        f"{path.name}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"(?<![\\(])\)(?:[*+?]|\{[0-9,]+\})\+", CHARACTER_CLASS.sub("x", line))
    ]
    assert found == []

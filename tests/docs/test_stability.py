"""The lowest versions that the page on stability promises are those that the package asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import undersigned

ROOT = Path(__file__).parents[2]


def test_lowest_versions_of_the_page_are_those_that_pip_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    kept = [*project["dependencies"], *(line for name, lines in extras.items() if name != "test" for line in lines)]
    asked = (re.match(r"([a-z0-9-]+)(?:\[[^]]*\])?>=([\d.]+)$", line) for line in kept)
    lowest = dict(found.groups() for found in asked if found)
    page = (ROOT / "docs" / "project" / "stability.md").read_text("utf-8")
    promised = dict(re.findall(r"^\| ([a-z0-9-]+) \| ([\d.]+) \|$", page, re.MULTILINE))
    assert promised
    assert promised == {name: lowest.get(name) for name in promised}


def test_citation_names_this_version():
    assert f"version: {undersigned.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")

"""The pages at the root: their links lead somewhere, and what they say of the code is so."""

from __future__ import annotations

import inspect
import pkgutil
import re
from dataclasses import fields
from pathlib import Path

import pytest

import undersigned
from undersigned import asgi, profiles
from undersigned.discovery import Network

ROOT = Path(__file__).parents[2]
PACKAGE = Path(undersigned.__file__).parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/vectors/published/**/*.md")]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
BOUND = re.compile(r"^\| `([A-Za-z_.]+)` \| ([0-9,]+)( [A-Za-z]+)? \|", re.MULTILINE)
CONSTANT = re.compile(r"^((?:MOST|LONGEST)_[A-Z_]+)[^=\n]* = ([0-9_]+)$", re.MULTILINE)
UNITS = {"": 1, " MiB": 1 << 20, " s": 1}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(page):
    linked = LINK.findall(page.read_text("utf-8"))
    # Beside a built wheel there is no source tree.
    assert [link for link in linked if not (page.parent / link).exists() and not link.startswith("src/")] == []


def test_the_architecture_names_every_package():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    held = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if not path.name.startswith(("_", "py."))}
    named = set(re.findall(r"`([a-z]+)`", re.search(r"## The house\n(.*?)\n## ", page, re.DOTALL)[1]))
    assert held <= named


def named_now() -> list[str]:
    """Return every name that the changelog gives as the one to use."""
    renamed = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("| before | now |")[2]
    now = [row.split(" | ")[1] for row in renamed.splitlines() if row.startswith("| `")]
    return sorted(set(re.findall(r"`@?(undersigned[A-Za-z_.]*)[`(]", " ".join(now))))


@pytest.mark.parametrize("name", named_now())
def test_a_name_that_the_changelog_gives_is_there(name):
    assert pkgutil.resolve_name(name) is not None


def constants() -> dict[str, int]:
    """Return every bound by its name: constants of modules, and defaults of options."""
    found = {
        name: int(value.replace("_", ""))
        for path in PACKAGE.rglob("*.py")
        for name, value in re.findall(
            r"^((?:MOST|LONGEST)_[A-Z_]+)[^=\n]* = ([0-9_]+)$", path.read_text(), re.MULTILINE
        )
        if path.parent.name not in {"cli", "doctor", "normalization"}
    }
    network = {field.name: field.default for field in fields(Network)}
    options = inspect.signature(asgi.SignatureMiddleware).parameters
    return {
        **found,
        "max_body": options["max_body"].default,
        "body_timeout": options["body_timeout"].default,
        "total_timeout": network["total_timeout"],
        "Caps.per_key": profiles.ADCP_3_2.caps.per_key,
    }


def test_the_security_page_gives_every_bound_its_value():
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    told = {name: int(value.replace(",", "")) * UNITS[unit] for name, value, unit in BOUND.findall(page)}
    held = constants()
    assert len(told) > 15
    assert told == {name: held[name] for name in told}

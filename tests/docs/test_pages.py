"""The pages at the root: their links lead somewhere, and what they say of the code is so."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

import undersigned
from undersigned import limits, profiles

ROOT = Path(__file__).parents[2]
PACKAGE = Path(undersigned.__file__).parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/vectors/published/**/*.md")]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
BOUND = re.compile(r"^\| `([A-Za-z_.]+)` \| ([0-9,.]+) \| (.+) \|$", re.MULTILINE)
CONSTANT = re.compile(r"^(_?(?:MOST|LONGEST)_[A-Z_]+)\b[^=\n]* = [0-9]", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(page):
    linked = LINK.findall(page.read_text("utf-8"))
    assert [link for link in linked if not (page.parent / link).exists()] == []


def test_architecture_names_every_package():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    held = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if not path.name.startswith(("_", "py."))}
    named = set(re.findall(r"`([a-z_]+)`", re.search(r"## The packages\n(.*?)\n## ", page, re.DOTALL)[1]))
    assert held <= named


def test_architecture_names_no_module_that_is_gone():
    named = re.findall(r"`([a-z_]+/[a-z0-9_]+\.py)`", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    places = (PACKAGE, PACKAGE.parent, ROOT, ROOT / "integrations")
    assert [path for path in named if not any((place / path).exists() for place in places)] == []


def bounds() -> dict[str, tuple[str, str]]:
    """Return the value and the reason of every limit by its name, as the page spells them."""
    statements = ast.parse(Path(limits.__file__).read_text("utf-8")).body
    return {
        bound.target.id: (f"{getattr(limits, bound.target.id):,}", reason.value.value)
        for bound, reason in pairwise(statements)
        if isinstance(bound, ast.AnnAssign)
    }


def test_security_page_has_every_bound_with_its_value_and_reason():
    documented = {
        name: (value, reason) for name, value, reason in BOUND.findall((ROOT / "SECURITY.md").read_text("utf-8"))
    }
    assert documented.pop("Caps.per_key")[0] == f"{profiles.ADCP_3_2.replay.caps.per_key:,}"
    assert documented == bounds()


def test_every_bound_is_defined_in_limits():
    # What an operator or a caller chooses, and what is a matter of speed, is bounded in its own module.
    others = {"cli", "explanation", "normalization", "url"}
    kept = {
        f"{path.stem}.{name}"
        for path in PACKAGE.rglob("*.py")
        if path.stem != "limits" and others.isdisjoint(path.relative_to(PACKAGE).parts)
        for name in CONSTANT.findall(path.read_text("utf-8"))
    }
    assert kept == {  # others belong into limits.py, with a row in SECURITY.md
        "key_sources._MOST_AT_ONCE",
        "sender_limits._MOST_FOR_A_SITE",
        "sender_limits._MOST_HANGING",
        "revocation_list.LONGEST_INTERVAL",
        "route._MOST_WRAPPERS",
        "sqlite._LONGEST_TIMEOUT",
    }

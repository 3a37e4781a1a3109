"""The page about migrating: every name of ours in its tables is one that a package has."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "migrating.md").read_text("utf-8")
PACKAGES = [
    import_module(name)
    for name in (
        "undersigned",
        "undersigned.asgi",
        "undersigned.discovery",
        "undersigned.replay",
        "undersigned.signature.rules",
        "undersigned_httpx",
        "undersigned_postgres",
        "undersigned_redis",
        "undersigned_requests",
        "undersigned_starlette",
    )
]
DJANGO = next(iter(find_spec("undersigned_django").submodule_search_locations))
REST_FRAMEWORK = (Path(DJANGO) / "rest_framework.py").read_text("utf-8")
"""It cannot be imported without the settings of a site."""

ROWS = [row.strip("|").split("|")[1] for row in PAGE.splitlines() if row.startswith("| `")]
WORDS = re.compile(r"\b(?:undersigned\w*\.)?([A-Z][a-z]\w+|signature_required)\b(?!=)")
CODE = [code for row in ROWS for code in re.findall("`([^`]+)`", row)]
NAMES = sorted({name for code in CODE for name in WORDS.findall(code)})


@pytest.mark.parametrize("name", NAMES)
def test_name_in_a_table_is_one_that_a_package_has(name):
    assert any(hasattr(package, name) for package in PACKAGES) or f"\nclass {name}(" in REST_FRAMEWORK


def test_tables_have_names():
    assert {"Signer", "Verifier", "RemoteJWKS", "SqliteReplayStore", "signature_required"} <= {*NAMES}

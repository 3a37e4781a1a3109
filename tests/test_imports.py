from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import undersigned.discovery

FOREIGN = {
    "starlette",
    "fastapi",
    "flask",
    "werkzeug",
    "requests",
    "httpx",
    "httpx2",
    "httpcore2",
    "joserfc",
    "publicsuffixlist",
    "click",
    "asyncio",
    "django",
    "aiohttp",
    "tornado",
    "sanic",
    "pytest",
}
LISTED = "import sys, undersigned; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def test_import_of_the_library_loads_no_framework_client_or_event_loop():
    loaded = subprocess.run([sys.executable, "-I", "-c", LISTED], check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own words
    assert "undersigned" in loaded.split()
    assert not FOREIGN & set(loaded.split())


@pytest.mark.parametrize("name", undersigned.__all__)
def test_every_public_name_exists(name):
    assert getattr(undersigned, name) is not None


@pytest.mark.parametrize(
    "package",
    [
        "activitypub",
        "asgi",
        "cavage",
        "explanation",
        "message",
        "middleware",
        "policy",
        "replay",
        "signature",
        "tokens",
        "url",
        "wsgi",
    ],
)
def test_package_exports_every_name_it_lists(package):
    module = importlib.import_module(f"undersigned.{package}")
    assert all(getattr(module, name) is not None for name in module.__all__)


def test_import_of_the_library_loads_no_normalization_or_discovery():
    program = "import sys, undersigned; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own words
    optional = (
        "undersigned.normalization",
        "undersigned.discovery",
        "undersigned.cli",
        "undersigned.explanation",
    )
    assert not [name for name in loaded.split() if name.startswith(optional)]


FETCHLESS = "FetchReport, Freshness, JWKSFile, KeySources, Network, RevocationFile, RevocationSources"


def test_sources_that_fetch_nothing_need_no_extra():
    program = f"import sys; sys.modules['httpcore2'] = None; from undersigned.discovery import {FETCHLESS}"
    subprocess.run([sys.executable, "-c", program], check=True)  # noqa: S603 - our own words


IMPORTS = {
    "undersigned.discovery.remote_jwks": ("httpcore2", "discovery"),
    "undersigned.discovery.adcp": ("publicsuffixlist", "discovery"),
    "undersigned.webhooks": ("httpcore2", "discovery"),
    "undersigned_aiohttp": ("aiohttp", "aiohttp"),
    "undersigned_django": ("django", "django"),
    "undersigned_fastapi": ("fastapi", "fastapi"),
    "undersigned_flask": ("flask", "flask"),
    "undersigned_gevent": ("gevent", "gevent"),
    "undersigned_inspector": ("click", "cli"),
    "undersigned_httpx.httpx": ("httpx", "httpx"),
    "undersigned_httpx.httpx2": ("httpx2", "httpx2"),
    "undersigned_opentelemetry": ("opentelemetry", "opentelemetry"),
    "undersigned_postgres": ("psycopg_pool", "postgres"),
    "undersigned_requests": ("requests", "requests"),
    "undersigned_sanic": ("sanic", "sanic"),
    "undersigned_starlette": ("starlette", "starlette"),
    "undersigned_tornado": ("tornado", "tornado"),
    "undersigned_django.rest_framework": ("rest_framework", "drf"),
}
"""The library that each module needs, and the extra that installs it."""

WITHOUT = """
import sys
from importlib import import_module
module, library = sys.argv[1:]
sys.modules[library] = None
try:
    import_module(module)
except ModuleNotFoundError as missing:
    print(missing)
"""


def run(*command):
    return subprocess.run([sys.executable, "-c", *command], check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own words


@pytest.mark.parametrize("module", IMPORTS)
def test_import_names_the_extra_that_is_missing(module):
    library, extra = IMPORTS[module]
    told = run(WITHOUT, module, library).strip()
    assert told.endswith(f" is not installed: pip install 'undersigned[{extra}]'")
    assert told.startswith(library)


def test_keys_in_a_file_need_no_extra():
    fetching = "import sys; sys.modules['httpcore2'] = sys.modules['publicsuffixlist'] = None; "
    assert run(f"{fetching}from undersigned.discovery import JWKSFile; print(JWKSFile.__name__)") == "JWKSFile\n"


def test_name_that_discovery_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'JWKSFiles'"):
        _ = undersigned.discovery.JWKSFiles

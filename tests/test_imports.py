from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import undersigned

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

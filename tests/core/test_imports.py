from __future__ import annotations

import subprocess
import sys

import pytest

import undersigned

FOREIGN = ("starlette", "fastapi", "flask", "werkzeug", "requests", "httpx", "httpx2", "click", "rich", "asyncio")
LISTED = "import sys, undersigned; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def test_importing_the_library_loads_no_framework_no_client_and_no_event_loop():
    loaded = subprocess.run([sys.executable, "-I", "-c", LISTED], check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own words
    assert "undersigned" in loaded.split()
    assert not set(FOREIGN) & set(loaded.split())


@pytest.mark.parametrize("name", undersigned.__all__)
def test_every_public_name_is_there(name):
    assert getattr(undersigned, name) is not None


def test_the_names_the_contract_lists_are_public():
    contract = {
        "AsyncVerifier",
        "KeySet",
        "MalformedURL",
        "MemoryReplayStore",
        "Request",
        "SignatureError",
        "Signer",
        "SigningKey",
        "VerifiedSignature",
        "Verifier",
        "canonicalize",
        "profiles",
        "same_url",
    }
    assert contract <= set(undersigned.__all__)

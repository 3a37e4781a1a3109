from __future__ import annotations

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
    "rich",
    "asyncio",
}
LISTED = "import sys, undersigned; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def test_importing_the_library_loads_no_framework_no_client_and_no_event_loop():
    loaded = subprocess.run([sys.executable, "-I", "-c", LISTED], check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own words
    assert "undersigned" in loaded.split()
    assert not FOREIGN & set(loaded.split())


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


def test_what_only_servers_need_is_imported_when_it_is_first_asked_for():
    program = """
import sys, undersigned
servers = {f"undersigned.{name}" for name in ("asgi", "wsgi", "policy", "a2a", "jsonrpc")}
assert not servers & set(sys.modules), servers & set(sys.modules)
assert {"asgi", "Policy", "Verifier"} <= set(dir(undersigned))
from undersigned import A2AResolver, JSONRPCResolver, Policy, asgi, wsgi
assert (asgi.__name__, wsgi.__name__, Policy.__name__) == ("undersigned.asgi", "undersigned.wsgi", "Policy")
assert servers <= set(sys.modules)
"""
    subprocess.run([sys.executable, "-I", "-c", program], check=True)  # noqa: S603 - our own words


def test_a_name_that_is_not_there_is_said_so():
    with pytest.raises(AttributeError, match="module 'undersigned' has no attribute 'nothing'"):
        undersigned.nothing  # noqa: B018 - asking is the test

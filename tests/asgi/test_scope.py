"""What an ASGI scope tells of the wire, and what the application gets instead."""

from __future__ import annotations

import asyncio
import functools
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.asgi.service import Service
from tests.drive import Message, call_asgi, scope_of
from tests.keys import ORIGIN

from undersigned import canonicalize


@pytest.fixture
def service(party):
    return Service(party)


@pytest.mark.parametrize(
    ("target", "path", "root_path"),
    [
        ("/a%2Fb", "/a/b", ""),
        ("/a%2Fb", "/a%2Fb", ""),
        ("/sub/a%2Fb", "/a/b", "/sub"),
        ("/caf%c3%a9", "/café", ""),
        ("/%ff", "/\ufffd", ""),
        ("/%ff", "/%ff", ""),
    ],
)
def test_decoded_path_is_accepted_when_it_matches_the_raw_path(service, target, path, root_path):
    assert service.get(target, path=path, root_path=root_path)["undersigned"].signature is not None


@pytest.mark.parametrize(
    ("target", "path"), [("/a", "/b"), ("/a%2Fb", "/c"), ("/a", "/sub/a"), ("/a", "/a\ud800"), ("/a", "/é")]
)
def test_decoded_path_is_rejected_when_it_differs_from_the_raw_path(service, target, path):
    assert "rewrites one" in service.rejects(target, path=path)


@pytest.mark.parametrize("raw_path", [None, b"", "/p"])
def test_server_without_a_raw_path_is_reported_as_unsupported(service, raw_path):
    assert "raw_path" in service.does_not_support("/p", raw_path=raw_path)


def test_root_path_that_the_server_does_not_add_is_reported_as_misconfigured(party):
    service = Service(party, server_adds_root_path=True)
    assert "server_adds_root_path" in service.does_not_support("/p", root_path="/api")


def test_root_path_that_the_server_adds_is_removed_once(party):
    service = Service(party, server_adds_root_path=True)
    seen = service.get("/api/api/p", root_path="/api", url=f"{ORIGIN}/api/p")
    assert seen["undersigned"].signature.target.path == "/api/p"


@pytest.mark.parametrize(
    ("target", "path", "root_path", "verified", "raw_path"),
    [
        ("/a%2Fb", "/a%2Fb", "", "/a/b", b"/a%2Fb"),
        ("/sub/./a", "/./a", "/sub", "/a", b"/sub/a"),
        ("/sub/./a", "/sub/./a", "/sub", "/sub/a", b"/sub/a"),
        ("/./a", "/./a", "/api", "/a", b"/a"),
    ],
    ids=["undecoded", "a mount that strips its prefix", "a mount that keeps it", "no mount"],
)
def test_application_gets_the_canonical_path_as_its_server_shows_paths(
    service, target, path, root_path, verified, raw_path
):
    seen = service.get(target, path=path, root_path=root_path)
    assert (seen["path"], seen["raw_path"]) == (verified, raw_path)


def test_canonical_path_outside_the_mount_is_rejected(service):
    assert "outside the mount" in service.rejects("/sub/../admin", root_path="/sub")


def test_canonical_path_outside_the_prefix_is_rejected(party):
    service = Service(party, origins=[f"{ORIGIN}/api"])
    assert "outside the origin's prefix" in service.rejects("/../x", url=f"{ORIGIN}/x")


def test_scope_without_a_scheme_stays_without_one(party):
    scope = scope_of(Message("/a", "GET", party.fields("GET", f"{ORIGIN}/a")))
    del scope["scheme"]
    service = Service(party)
    asyncio.run(call_asgi(service.app, scope))
    assert "scheme" not in service.calls[0].context


class Cycle:
    """A server's own object, with the callables that it passes to the application."""

    async def receive(self):
        return {"type": "http.request"}

    async def send(self, message) -> None:
        """Send nothing."""


Cycle.__module__ = "hypercorn.protocol.http_stream"


@pytest.mark.parametrize("wrap", [lambda call: call, functools.partial])
@pytest.mark.parametrize("hidden", ["receive", "send", "neither"])
def test_server_is_named_by_its_own_callables(party, wrap, hidden):
    async def receive():
        return {"type": "http.request"}

    async def send(_message) -> None:
        """Send nothing."""

    cycle, service = Cycle(), Service(party, http2_server="daphne")
    scope = {**scope_of(Message("/a", "GET", party.fields("GET", f"{ORIGIN}/a"))), "http_version": "2"}
    given_receive = receive if hidden == "receive" else wrap(cycle.receive)
    asyncio.run(service.app(scope, given_receive, send if hidden == "send" else wrap(cycle.send)))
    assert service.decision.evidence().detail.startswith("hypercorn does not show over HTTP version 2")


@given(path=st.lists(st.sampled_from(["a", "%2F", "%C3%A9", "%FF", "/", "~"]), max_size=5).map("/".join))
def test_application_gets_the_canonical_path_and_the_same_path_decoded(party, path):
    seen, verified = Service(party).get(f"/{path}"), canonicalize(f"{ORIGIN}/{path}").path
    assert (seen["raw_path"], seen["path"]) == (verified.encode(), unquote(verified))

"""What an ASGI scope tells of the wire, and what the application gets instead."""

from __future__ import annotations

import functools
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import MalformedURL, VerificationUnavailable, canonicalize, profiles
from undersigned.asgi.scope import detected_server, request_target, server_root_path, verified_scope
from undersigned.message.request_target import RequestTarget
from undersigned.url import Origin

OWN = Origin("https", "seller.example.com")


def scope(raw_path: bytes, path: str, query: bytes = b"", **others):
    return {"type": "http", "raw_path": raw_path, "path": path, "query_string": query, **others}


def target(given, *, added: bool = False):
    return request_target(given, profiles.ADCP_3_2, server_adds_root_path=added)


@pytest.mark.parametrize(
    ("raw_path", "path", "root_path"),
    [
        (b"/a%2Fb", "/a/b", ""),
        (b"/a%2Fb", "/a%2Fb", ""),
        (b"/sub/a%2Fb", "/a/b", "/sub"),
        (b"/caf%c3%a9", "/café", ""),
        (b"/%ff", "/\ufffd", ""),
        (b"/%ff", "/%ff", ""),
    ],
)
def test_decoded_path_is_accepted_when_it_matches_the_raw_path(raw_path, path, root_path):
    assert target(scope(raw_path, path, root_path=root_path)).path == raw_path.decode()


@pytest.mark.parametrize(
    ("raw_path", "path"),
    [(b"/a", "/b"), (b"/a%2Fb", "/c"), (b"/a", "/sub/a"), (b"/a", "/a\ud800"), (b"/a", "/é")],
)
def test_decoded_path_is_rejected_when_it_differs_from_the_raw_path(raw_path, path):
    with pytest.raises(MalformedURL, match="rewrites one"):
        target(scope(raw_path, path))


@pytest.mark.parametrize("raw_path", [None, b"", "/p"])
def test_server_without_a_raw_path_is_reported_as_unsupported(raw_path):
    with pytest.raises(VerificationUnavailable) as caught:
        target({**scope(b"", "/p"), "raw_path": raw_path})
    assert "raw_path" in caught.value.detail


def test_root_path_that_the_server_does_not_add_is_reported_as_misconfigured():
    with pytest.raises(VerificationUnavailable) as caught:
        target(scope(b"/p", "/p", root_path="/api"), added=True)
    assert "server_adds_root_path" in caught.value.detail


def test_root_path_that_the_server_adds_is_removed_once():
    assert target(scope(b"/api/api/p", "/api/api/p", root_path="/api"), added=True).path == "/api/p"


def rewritten(given, canonical: str, origin: Origin = OWN):
    target = canonicalize(f"https://seller.example.com{canonical}")
    return verified_scope(given, [], target=target, origin=origin, server_adds_root_path=False)


def test_undecoded_path_is_replaced_by_the_decoded_one():
    assert rewritten(scope(b"/a%2Fb", "/a%2Fb"), "/a%2Fb")["path"] == "/a/b"


def test_mount_that_strips_its_prefix_gets_the_canonical_path_without_it():
    new = rewritten(scope(b"/sub/./a", "/./a", root_path="/sub"), "/sub/./a")
    assert (new["path"], new["raw_path"]) == ("/a", b"/sub/a")


def test_mount_that_keeps_its_prefix_gets_the_canonical_path_with_it():
    new = rewritten(scope(b"/sub/./a", "/sub/./a", root_path="/sub"), "/sub/./a")
    assert (new["path"], new["raw_path"]) == ("/sub/a", b"/sub/a")


def test_root_path_that_is_not_in_the_path_changes_nothing():
    assert rewritten(scope(b"/./a", "/./a", root_path="/api"), "/./a")["path"] == "/a"


def test_canonical_path_outside_the_mount_is_rejected():
    with pytest.raises(MalformedURL, match="outside the mount"):
        rewritten(scope(b"/sub/../admin", "/sub/../admin", root_path="/sub"), "/sub/../admin")


def test_canonical_path_outside_the_prefix_is_rejected():
    with pytest.raises(MalformedURL, match="outside the origin's prefix"):
        rewritten(scope(b"/../x", "/../x"), "/x", Origin("https", "seller.example.com", "/api"))


def test_scope_without_a_scheme_stays_without_one():
    assert "scheme" not in rewritten(scope(b"/a", "/a"), "/a")


class Cycle:
    def call(self) -> None:
        """A stand-in for a server's own callable."""


Cycle.__module__ = "hypercorn.protocol.http_stream"


def test_server_name_comes_from_its_own_callables():
    assert detected_server(Cycle().call, None) == "hypercorn"
    assert detected_server(None, functools.partial(Cycle().call)) == "hypercorn"


def test_server_name_is_unknown_when_a_layer_wraps_its_callables():
    assert detected_server(lambda: None, print) is None


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ({}, ""),
        ({"root_path": ""}, ""),
        ({"root_path": None}, ""),
        ({"root_path": "/api"}, "/api"),
        ({"root_path": "/api/mounted", "app_root_path": "/api"}, "/api"),
        ({"root_path": "/mounted", "app_root_path": ""}, ""),
    ],
)
def test_root_path_of_the_server_is_the_one_before_any_mount(given, root):
    assert server_root_path(given) == root


PATHS = st.text("ab/.%2Fé", max_size=5).map(lambda text: f"/{text}")


@given(raw=PATHS.filter(str.isascii), path=PATHS, root=st.sampled_from(["", "/a", "/a/"]))
def test_decoded_path_is_accepted_exactly_if_it_may_be_the_raw_path(raw, path, root):
    try:
        received = RequestTarget.parse(raw.encode())
    except MalformedURL:
        return
    if received.is_path(path.encode(), (root + path).encode()):
        assert target(scope(raw.encode(), path, root_path=root)) == received
    else:
        with pytest.raises(MalformedURL, match="rewrites one"):
            target(scope(raw.encode(), path, root_path=root))


@given(path=st.lists(st.sampled_from(["a", "%2F", "%C3%A9", "%FF", "/", "~"]), max_size=5).map("/".join))
def test_application_gets_the_canonical_path_and_the_same_path_decoded(path):
    verified = canonicalize(f"https://seller.example.com/{path}")
    new = verified_scope(scope(b"/", "/"), [], target=verified, origin=OWN, server_adds_root_path=False)
    assert (new["raw_path"], new["path"]) == (verified.path.encode(), unquote(verified.path))

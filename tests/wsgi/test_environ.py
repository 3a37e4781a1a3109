"""What a WSGI environ tells of the wire, and what the application gets instead."""

from __future__ import annotations

import io
from urllib.parse import unquote, unquote_to_bytes

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st
from tests.keys import BODY, ORIGIN
from tests.middleware.gate import OverWSGI
from tests.serving import gunicorn_server
from tests.wire import exchange

from undersigned import Policy, canonicalize
from undersigned.wsgi import SignatureMiddleware

MALFORMED = (401, "request_target_uri_malformed")


@pytest.fixture
def gate(party):
    return OverWSGI(party, http2_server="gunicorn")


def scope_of(target: str, **others) -> dict:
    path, _, query = target.partition("?")
    return {
        "type": "http",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"seller.example.com")],
        **others,
    }


def test_asgi_scope_in_the_environ_is_replaced_by_the_verified_one(gate):
    given = scope_of("/adcp/./create?x=1")
    seen = gate.accepts("GET", "/adcp/./create?x=1", RAW_URI=None, **{"asgi.scope": given})
    scope = seen.context["asgi.scope"]
    assert (seen.path, scope["path"], scope["raw_path"]) == ("/adcp/create", "/adcp/create", b"/adcp/create")
    assert (scope["scheme"], given["path"]) == ("https", "/adcp/./create")
    assert seen.context["QUERY_STRING"] == "x=1"


@pytest.mark.parametrize("target", ["/p", "/p?"])
def test_lone_question_mark_is_tried_both_ways_when_the_environ_hides_it(gate, target):
    assert gate.signed("GET", target, RAW_URI=None, **{"asgi.scope": scope_of(target)})[0] == 200


def test_lone_question_mark_is_tried_one_way_when_the_environ_shows_it(gate):
    assert gate.signed("GET", "/p", url=f"{ORIGIN}/p?")[0] == 401
    assert gate.signed("GET", "/p?", url=f"{ORIGIN}/p")[0] == 401


def test_path_info_is_rejected_when_the_asgi_scope_has_another_path(gate):
    assert gate.signed("GET", "/p", RAW_URI=None, PATH_INFO="/q", **{"asgi.scope": scope_of("/p")}) == MALFORMED
    assert gate.calls == []


def test_field_name_alias_is_rejected_when_only_the_asgi_scope_shows_it(gate):
    headers = [(b"host", b"seller.example.com"), (b"signature-input", b"sig1"), (b"signature_input", b"sig2")]
    assert gate.signed("GET", "/p", RAW_URI=None, **{"asgi.scope": scope_of("/p", headers=headers)}) == (
        401,
        "request_signature_header_malformed",
    )
    assert gate.calls == []


def test_chunked_content_under_an_asgi_scope_is_read_to_its_end(gate):
    assert (
        gate.accepts(
            "POST",
            "/p",
            BODY,
            RAW_URI=None,
            CONTENT_LENGTH=None,
            HTTP_TRANSFER_ENCODING="chunked",
            **{"asgi.scope": scope_of("/p"), "wsgi.input_terminated": None},
        ).body
        == BODY
    )


def test_content_over_http2_needs_no_length(gate):
    assert gate.accepts("POST", "/p", BODY, CONTENT_LENGTH=None, SERVER_PROTOCOL="HTTP/2").body == BODY


def test_unsigned_content_over_http2_never_reaches_the_application(gate):
    assert gate.signed("GET", "/p", SERVER_PROTOCOL="HTTP/2", **{"wsgi.input": io.BytesIO(b"evil")})[0] == 401


def test_content_length_has_up_to_18_digits(gate):
    for digits, status in ((18, 200), (19, 413)):
        assert gate.signed("POST", "/p", BODY, CONTENT_LENGTH=f"{len(BODY):0{digits}}")[0] == status


@pytest.mark.parametrize(
    "path_info",
    ["/a/b//c/./d/e", "/a%2Fb//c/./d/e", "/a%2Fb/c/d/e", "/a/b/c/d/e", "/a%2Fb//c/./d/%65"],
    ids=["decoded", "encoded slash kept", "and levelled", "levelled", "undecoded"],
)
def test_path_as_each_server_shows_it_is_the_same_target(gate, path_info):
    assert gate.signed("GET", "/a%2Fb//c/./d/%65", PATH_INFO=path_info)[0] == 200


@pytest.mark.parametrize("without", ["", "/q", "/a/b", "/a%2fb"])
def test_path_of_another_target_is_rejected(gate, without):
    assert gate.signed("GET", "/a%2Fc", PATH_INFO=without) == MALFORMED
    assert "are different" in gate.decisions[0].evidence().detail


def shown(target: str, script_name: str, path_info: str, by: str = "RAW_URI") -> dict:
    """The variables of a mount, and the target as a server shows it."""
    mounted = {"RAW_URI": None, "SCRIPT_NAME": script_name, "PATH_INFO": path_info}
    return {**mounted, by: scope_of(target) if by == "asgi.scope" else target}


@pytest.mark.parametrize(
    ("target", "script_name", "path_info", "path"),
    [
        ("/api/x", "/api", "/api/x", "/api/x"),
        ("/api/x", "/api", "/x", "/x"),
        ("/api/a%2Fb", "/api", "/a/b", "/a/b"),
        ("/api/./a/b", "/api", "/./a/b", "/a/b"),
        ("/api", "/api", "", ""),
        ("/x", "/api", "/x", "/x"),
        ("/api/x", "/api/", "x", "x"),
        ("/x/../api/p", "/api", "/p", "/p"),
        ("/y/../x", "/api", "/x", "/x"),
    ],
)
@pytest.mark.parametrize("by", ["RAW_URI", "REQUEST_URI", "asgi.scope"])
def test_script_name_is_a_mount_when_only_the_target_contains_it(gate, by, target, script_name, path_info, path):
    if by == "asgi.scope" and ".." in target:
        # An ASGI server shows dot segments also in its path.
        return
    assert gate.accepts("GET", target, **shown(target, script_name, path_info, by)).path == path


def test_script_name_is_a_mount_when_the_target_is_rebuilt(party):
    gate = OverWSGI(party, reconstruct=True)
    assert gate.accepts("GET", "/api/x", RAW_URI=None, SCRIPT_NAME="/api", PATH_INFO="/x").path == "/x"


@pytest.mark.parametrize(
    ("target", "script_name", "path_info", "why"),
    [
        ("/sub/../admin", "/sub", "/../admin", "outside the mount"),
        ("/api/../apix", "/api/", "../apix", "outside the mount"),
        ("/apiX/../adcp/p", "/api", "X/../adcp/p", "in the middle of a segment"),
        ("/api%2E/x", "/api", "./x", "in the middle of a segment"),
        ("/apix", "/api", "x", "in the middle of a segment"),
        ("/./p", "/api", "/../p", "dot segments hide"),
        ("/./api/p", "/api", "/./api/p", "only the canonical path"),
        # Some servers merge slashes or decode before they remove dot segments, and others after.
        ("/api//../", "/api", "/", "dot segments hide"),
        ("/..//api/p", "/api", "/..//api/p", "dot segments hide"),
    ],
)
def test_script_name_that_the_canonical_path_contradicts_is_rejected(gate, target, script_name, path_info, why):
    assert gate.signed("GET", target, SCRIPT_NAME=script_name, PATH_INFO=path_info) == MALFORMED
    assert why in gate.decisions[0].evidence().detail
    assert gate.calls == []


@pytest.mark.parametrize(
    ("target", "canonical"),
    [
        ("/api/%2e/../x", "/api/x"),
        ("/api/%2E/../x", "/api/x"),
        ("/api/a%2F../x", "/api/a%2F../x"),
        ("/api/a%2f../x", "/api/a%2F../x"),
        ("/api%2F/../x", "/x"),
    ],
)
def test_encoded_dot_or_slash_next_to_a_dot_segment_is_rejected_under_a_mount(gate, target, canonical):
    assert gate.signed("GET", target, url=f"{ORIGIN}{canonical}", SCRIPT_NAME="/api", PATH_INFO="/x") == MALFORMED
    assert gate.calls == []


@pytest.mark.parametrize("name", ["RAW_URI", "REQUEST_URI", "PATH_INFO", "SCRIPT_NAME"])
@pytest.mark.parametrize("text", ["/\u0100", "/p\U0001f600", "/\ud800"])
def test_text_is_rejected_when_it_is_not_latin_1(gate, name, text):
    assert gate.signed("GET", "/%3F", **{"SCRIPT_NAME": "/api", name: text}) == MALFORMED
    assert gate.calls == []


def test_request_below_the_script_name_of_gunicorn_reaches_the_signed_path(party, monkeypatch):
    monkeypatch.setenv("SCRIPT_NAME", "/api")
    application = Flask("seller")
    application.add_url_rule("/<path:path>", view_func=lambda path: path, methods=["POST"])
    application.wsgi_app = SignatureMiddleware(application.wsgi_app, verifier=party.verifier(), origins=[ORIGIN])
    with gunicorn_server(application) as port:
        answers = [
            exchange(port, party.raw("POST", target, url=ORIGIN + canonical))
            for target, canonical in [("/apiX/../adcp/p", "/adcp/p"), ("/api/./adcp/p", "/api/adcp/p")]
        ]
    assert [answer.partition(b"\r\n")[0] for answer in answers] == [b"HTTP/1.1 401 Unauthorized", b"HTTP/1.1 200 OK"]
    assert answers[1].endswith(b"\r\n\r\nadcp/p")


def test_query_string_is_the_verified_one_whatever_the_server_showed(gate):
    for others in ({}, {"QUERY_STRING": "b=2"}, {"QUERY_STRING": None}):
        seen = gate.accepts("GET", "/p?a=1", **others)
        assert (seen.context["QUERY_STRING"], seen.context["RAW_URI"]) == ("a=1", "/p?a=1")


@pytest.mark.parametrize("kind", [list, tuple])
def test_fields_that_only_the_asgi_scope_shows_are_counted(gate, kind):
    most = [(b"a", b"1")] * 100
    for headers, status in ((most, 200), ([*most, (b"a", b"2")], 431)):
        assert (
            gate.signed("GET", "/p", RAW_URI=None, **{"asgi.scope": scope_of("/p", headers=kind(headers))})[0] == status
        )


def test_version_is_read_with_and_without_its_name_and_one_that_http_does_not_have_is_rejected(gate):
    for protocol in ("HTTP/1.0", "HTTP/1", "1.1", "HTTP/2", "HTTP/2.0"):
        assert gate.signed("GET", "/p", SERVER_PROTOCOL=protocol) == (200, None)
    for protocol in ("HTTP/2.1", "HTTP/0.9", "HTTP/11.1", ""):
        assert gate.signed("GET", "/p", SERVER_PROTOCOL=protocol) == MALFORMED


@given(path=st.lists(st.sampled_from(["a", "%2F", "%C3%A9", "%FF", "~"]), max_size=5).map("/".join))
def test_application_gets_the_canonical_path_decoded(party, path):
    target, path_info = f"/{path}?a", unquote(f"/{path}", "latin-1")
    gate = OverWSGI(party)
    seen = gate.accepts("GET", target, PATH_INFO=path_info)
    verified = canonicalize(f"{ORIGIN}{target}")
    decoded = unquote_to_bytes(verified.path).decode("latin-1")
    assert (seen.path, seen.context["QUERY_STRING"], seen.context["RAW_URI"]) == (decoded, "a", f"{verified.path}?a")


@pytest.mark.parametrize(
    ("others", "target"),
    [
        ({"PATH_INFO": "/caf\u00c3\u00a9/a b", "SCRIPT_NAME": "/shop"}, "/shop/caf%C3%A9/a%20b"),
        ({"QUERY_STRING": "token=hidden"}, "/p?(withheld)"),
    ],
)
def test_decision_names_the_path_if_the_server_shows_no_target(gate, others, target):
    assert gate.signed("GET", "/p", RAW_URI=None, REQUEST_URI=None, **others)[0] == 503
    assert gate.decisions[0].target == target


def test_little_is_read_of_content_that_is_not_json_before_the_application_gets_it(party):
    reads, before = [], []

    class Input(io.BytesIO):
        def read(self, size=-1):
            reads.append(size)
            return super().read(size)

    def application(environ, start_response):
        before.extend(reads)
        start_response("200 OK", [])
        return [environ["wsgi.input"].read()]

    app = SignatureMiddleware(application, verifier=party.verifier(), origins=[ORIGIN], policy=Policy())
    body = b"x" * 1_000_000
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/p", "RAW_URI": "/p", "SERVER_PROTOCOL": "HTTP/1.1"}
    environ |= {"CONTENT_LENGTH": str(len(body)), "wsgi.input": Input(body), "wsgi.url_scheme": "https"}
    assert b"".join(app(environ, lambda *_: None)) == body
    assert before == [512]

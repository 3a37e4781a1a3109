"""What a WSGI environ tells of the wire, and what the application gets instead."""

from __future__ import annotations

import io
from urllib.parse import unquote, unquote_to_bytes

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st
from tests.keys import ORIGIN
from tests.serving import gunicorn_server
from tests.wire import exchange
from tests.wsgi.test_middleware import BODY, JSON, Echo, environ_of, run

from undersigned import Policy, canonicalize
from undersigned.wsgi import SignatureMiddleware


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def decisions():
    return []


@pytest.fixture
def app(party, echo, decisions):
    options = {"origins": [ORIGIN], "http2_server": "gunicorn", "on_decision": decisions.append}
    return SignatureMiddleware(echo, verifier=party.verifier(), **options)


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


def test_asgi_scope_in_the_environ_is_replaced_by_the_verified_one(app, party):
    held = {}

    def application(environ, start_response):
        held.update(environ)
        start_response("200 OK", [])
        return [b"{}"]

    app.app = application
    given = scope_of("/adcp/./create")
    environ = environ_of(party, target="/adcp/./create", RAW_URI=None, **{"asgi.scope": given})
    assert run(app, environ)[0] == 200
    assert (held["PATH_INFO"], held["asgi.scope"]["path"], held["asgi.scope"]["raw_path"]) == (
        "/adcp/create",
        "/adcp/create",
        b"/adcp/create",
    )
    assert held["asgi.scope"]["scheme"] == "https"
    assert given["path"] == "/adcp/./create"


@pytest.mark.parametrize("target", ["/p", "/p?"])
def test_lone_question_mark_is_tried_both_ways_when_the_environ_hides_it(app, party, target):
    assert run(app, environ_of(party, target=target, RAW_URI=None, **{"asgi.scope": scope_of(target)}))[0] == 200


def test_lone_question_mark_is_tried_one_way_when_the_environ_shows_it(app, party):
    assert run(app, environ_of(party, target="/p", url=f"{ORIGIN}/p?"))[0] == 401


def test_path_info_is_rejected_when_the_asgi_scope_has_another_path(app, party, echo):
    environ = environ_of(party, RAW_URI=None, PATH_INFO="/q", **{"asgi.scope": scope_of("/p")})
    assert run(app, environ) == (401, {"error": "request_target_uri_malformed"})
    assert echo.calls == []


def test_field_name_alias_is_rejected_when_only_the_asgi_scope_shows_it(app, party, echo):
    headers = [(b"host", b"seller.example.com"), (b"signature-input", b"sig1"), (b"signature_input", b"sig2")]
    environ = environ_of(party, RAW_URI=None, **{"asgi.scope": scope_of("/p", headers=headers)})
    assert run(app, environ) == (401, {"error": "request_signature_header_malformed"})
    assert echo.calls == []


def test_chunked_content_under_an_asgi_scope_is_read_to_its_end(app, party):
    environ = environ_of(
        party,
        method="POST",
        headers=JSON,
        body=BODY,
        RAW_URI=None,
        CONTENT_LENGTH=None,
        HTTP_TRANSFER_ENCODING="chunked",
        **{"asgi.scope": scope_of("/p"), "wsgi.input_terminated": None},
    )
    assert run(app, environ)[1]["body"] == BODY.decode()


def test_content_over_http2_needs_no_length(app, party):
    environ = environ_of(party, method="POST", headers=JSON, body=BODY, CONTENT_LENGTH=None, SERVER_PROTOCOL="HTTP/2")
    assert run(app, environ)[1]["body"] == BODY.decode()


def test_unsigned_content_over_http2_never_reaches_the_application(app, party):
    environ = environ_of(party, SERVER_PROTOCOL="HTTP/2", **{"wsgi.input": io.BytesIO(b"evil")})
    assert run(app, environ)[0] == 401


def test_content_length_has_up_to_18_digits(app, party):
    for digits, status in ((18, 200), (19, 413)):
        environ = environ_of(party, method="POST", headers=JSON, body=BODY, CONTENT_LENGTH=f"{len(BODY):0{digits}}")
        assert run(app, environ)[0] == status


@pytest.mark.parametrize(
    "path_info",
    ["/a/b//c/./d/e", "/a%2Fb//c/./d/e", "/a%2Fb/c/d/e", "/a/b/c/d/e", "/a%2Fb//c/./d/%65"],
    ids=["decoded", "encoded slash kept", "and levelled", "levelled", "undecoded"],
)
def test_path_as_each_server_shows_it_is_the_same_target(app, party, path_info):
    assert run(app, environ_of(party, target="/a%2Fb//c/./d/%65", PATH_INFO=path_info))[0] == 200


@pytest.mark.parametrize("without", ["", "/q", "/a/b", "/a%2fb"])
def test_path_of_another_target_is_rejected(app, party, decisions, without):
    environ = environ_of(party, target="/a%2Fc", PATH_INFO=without)
    assert run(app, environ) == (401, {"error": "request_target_uri_malformed"})
    assert "are different" in decisions[0].evidence().detail


def shown(target: str, script_name: str, path_info: str, by: str = "RAW_URI") -> dict:
    """The variables of a mount, and the target as a server shows it."""
    mounted = {"RAW_URI": None, "SCRIPT_NAME": script_name, "PATH_INFO": path_info}
    return {**mounted, by: scope_of(target) if by == "asgi.scope" else target}


@pytest.mark.parametrize(
    ("target", "script_name", "path_info", "path"),
    [
        ("/api/x", "/api", "/api/x", "/api/x"),
        ("/api/x", "/api", "/x", "/x"),
        ("/x", "/api", "/x", "/x"),
        ("/api/x", "/api/", "x", "x"),
        ("/x/../api/p", "/api", "/p", "/p"),
        ("/y/../x", "/api", "/x", "/x"),
    ],
)
@pytest.mark.parametrize("by", ["RAW_URI", "REQUEST_URI", "asgi.scope"])
def test_script_name_is_a_mount_when_only_the_target_contains_it(app, party, by, target, script_name, path_info, path):
    if by == "asgi.scope" and ".." in target:
        # An ASGI server shows dot segments also in its path.
        return
    environ = environ_of(party, target=target, **shown(target, script_name, path_info, by))
    status, seen = run(app, environ)
    assert (status, seen["path"]) == (200, path)


def test_script_name_is_a_mount_when_the_target_is_rebuilt(party, echo):
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], reconstruct=True)
    environ = environ_of(party, target="/api/x", RAW_URI=None, SCRIPT_NAME="/api", PATH_INFO="/x")
    assert run(app, environ)[1]["path"] == "/x"


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
def test_script_name_that_the_canonical_path_contradicts_is_rejected(
    app, party, echo, decisions, target, script_name, path_info, why
):
    environ = environ_of(party, target=target, SCRIPT_NAME=script_name, PATH_INFO=path_info)
    assert run(app, environ) == (401, {"error": "request_target_uri_malformed"})
    assert why in decisions[0].evidence().detail
    assert echo.calls == []


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
def test_encoded_dot_or_slash_next_to_a_dot_segment_is_rejected_under_a_mount(app, party, echo, target, canonical):
    environ = environ_of(party, target=target, url=f"{ORIGIN}{canonical}", SCRIPT_NAME="/api", PATH_INFO="/x")
    assert run(app, environ) == (401, {"error": "request_target_uri_malformed"})
    assert echo.calls == []


@pytest.mark.parametrize("name", ["RAW_URI", "REQUEST_URI", "PATH_INFO", "SCRIPT_NAME"])
@pytest.mark.parametrize("text", ["/\u0100", "/p\U0001f600", "/\ud800"])
def test_text_is_rejected_when_it_is_not_latin_1(app, party, echo, name, text):
    environ = environ_of(party, target="/%3F", **{"SCRIPT_NAME": "/api", name: text})
    assert run(app, environ) == (401, {"error": "request_target_uri_malformed"})
    assert echo.calls == []


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


def test_query_string_is_the_verified_one_whatever_the_server_showed(app, party):
    for others in ({}, {"QUERY_STRING": "b=2"}, {"QUERY_STRING": None}):
        seen = run(app, environ_of(party, target="/p?a=1", **others))[1]
        assert (seen["query"], seen["raw"]) == ("a=1", "/p?a=1")


@pytest.mark.parametrize("kind", [list, tuple])
def test_fields_that_only_the_asgi_scope_shows_are_counted(app, party, kind):
    most = [(b"a", b"1")] * 100
    for headers, status in ((most, 200), ([*most, (b"a", b"2")], 431)):
        environ = environ_of(party, RAW_URI=None, **{"asgi.scope": scope_of("/p", headers=kind(headers))})
        assert run(app, environ)[0] == status


@pytest.mark.parametrize("protocol", ["HTTP/1.0", "HTTP/1", "1.1", "HTTP/2", "HTTP/2.0"])
def test_version_is_read_with_and_without_its_name(app, party, protocol):
    assert run(app, environ_of(party, SERVER_PROTOCOL=protocol))[0] == 200


@pytest.mark.parametrize("protocol", ["HTTP/2.1", "HTTP/0.9", "HTTP/11.1", ""])
def test_version_that_http_does_not_have_is_rejected(app, party, protocol):
    assert run(app, environ_of(party, SERVER_PROTOCOL=protocol)) == (401, {"error": "request_target_uri_malformed"})


@given(path=st.lists(st.sampled_from(["a", "%2F", "%C3%A9", "%FF", "~"]), max_size=5).map("/".join))
def test_application_gets_the_canonical_path_decoded(party, path):
    target, path_info = f"/{path}?a", unquote(f"/{path}", "latin-1")
    app = SignatureMiddleware(Echo(), verifier=party.verifier(), origins=[ORIGIN])
    seen = run(app, environ_of(party, target=target, PATH_INFO=path_info))[1]
    verified = canonicalize(f"{ORIGIN}{target}")
    decoded = unquote_to_bytes(verified.path).decode("latin-1")
    assert (seen["path"], seen["query"], seen["raw"]) == (decoded, "a", f"{verified.path}?a")


@pytest.mark.parametrize(
    ("others", "target"),
    [
        ({"PATH_INFO": "/caf\u00c3\u00a9/a b", "SCRIPT_NAME": "/shop"}, "/shop/caf%C3%A9/a%20b"),
        ({"QUERY_STRING": "token=hidden"}, "/p?(withheld)"),
    ],
)
def test_decision_names_the_path_if_the_server_shows_no_target(app, party, decisions, others, target):
    assert run(app, environ_of(party, RAW_URI=None, REQUEST_URI=None, **others))[0] == 503
    assert decisions[0].target == target


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

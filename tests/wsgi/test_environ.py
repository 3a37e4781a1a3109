"""What a WSGI environ tells of the wire, and what the application gets instead."""

from __future__ import annotations

import io
from urllib.parse import unquote_to_bytes

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st
from tests.keys import ORIGIN
from tests.serving import gunicorn_server
from tests.wire import exchange
from tests.wsgi.test_middleware import BODY, JSON, Echo, environ_of, run

from undersigned import MalformedURL, canonicalize, profiles
from undersigned.limits import MOST_FIELDS
from undersigned.message.request_target import RequestTarget
from undersigned.url import Origin
from undersigned.wsgi import SignatureMiddleware
from undersigned.wsgi.environ import (
    BodyFraming,
    field_lines,
    has_too_many_fields,
    http_version,
    request_target,
    verified_environ,
)

OWN = Origin("https", "seller.example.com")


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def app(party, echo):
    return SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], http2_server="gunicorn")


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
    assert run(app, environ)[1]["body"] == ""


@pytest.mark.parametrize(
    ("environ", "framing"),
    [
        ({}, BodyFraming(has_body=False, length=0, is_readable=True)),
        ({"wsgi.input_terminated": True}, BodyFraming(has_body=False, length=0, is_readable=True)),
        (
            {"wsgi.input_terminated": True, "SERVER_PROTOCOL": "HTTP/2.0"},
            BodyFraming(has_body=None, length=None, is_readable=True),
        ),
        ({"SERVER_PROTOCOL": "HTTP/2"}, BodyFraming(has_body=False, length=0, is_readable=True)),
    ],
)
def test_content_without_a_length_is_read_to_its_end_only_over_http2(environ, framing):
    assert BodyFraming.of(environ) == framing


def test_content_length_has_up_to_18_digits():
    assert BodyFraming.of({"CONTENT_LENGTH": f"{5:018}"}) == BodyFraming(has_body=True, length=5, is_readable=True)
    assert not BodyFraming.of({"CONTENT_LENGTH": f"{5:019}"}).is_readable


@pytest.mark.parametrize(
    "path_info",
    ["/a/b//c/./d/e", "/a%2Fb//c/./d/e", "/a%2Fb/c/d/e", "/a/b/c/d/e", "/a%2Fb//c/./d/%65"],
    ids=["decoded", "encoded slash kept", "and levelled", "levelled", "undecoded"],
)
def test_path_as_each_server_shows_it_is_the_same_target(path_info):
    environ = {"RAW_URI": "/a%2Fb//c/./d/%65", "PATH_INFO": path_info}
    assert request_target(environ, profiles.ADCP_3_2, reconstruct=False).path == environ["RAW_URI"]


def rewritten(canonical: str, **environ) -> str:
    target = canonicalize(f"https://seller.example.com{canonical}")
    return verified_environ({"PATH_INFO": "", **environ}, target, OWN)["PATH_INFO"]


def test_script_name_is_not_a_mount_when_target_and_path_info_contain_it():
    assert rewritten("/api/x", RAW_URI="/api/x", SCRIPT_NAME="/api", PATH_INFO="/api/x") == "/api/x"


def test_script_name_is_a_mount_when_only_the_target_contains_it():
    assert rewritten("/api/x", RAW_URI="/api/x", SCRIPT_NAME="/api", PATH_INFO="/x") == "/x"
    assert rewritten("/api/x", SCRIPT_NAME="/api", PATH_INFO="/x") == "/x"
    assert rewritten("/api/x", SCRIPT_NAME="/api", PATH_INFO="/x", **{"asgi.scope": scope_of("/api/x")}) == "/x"


def test_script_name_is_not_a_mount_when_the_target_lacks_it():
    assert rewritten("/x", SCRIPT_NAME="/api", PATH_INFO="/x", **{"asgi.scope": scope_of("/x")}) == "/x"


def test_canonical_path_outside_the_mount_is_rejected():
    with pytest.raises(MalformedURL, match="outside the mount"):
        rewritten("/admin", RAW_URI="/sub/../admin", SCRIPT_NAME="/sub", PATH_INFO="/../admin")


@pytest.mark.parametrize(
    ("raw", "path_info"), [("/apiX/../adcp/p", "X/../adcp/p"), ("/api%2E/x", "./x"), ("/apix", "x")]
)
def test_script_name_that_ends_inside_a_segment_is_rejected(raw, path_info):
    with pytest.raises(MalformedURL, match="in the middle of a segment"):
        rewritten("/adcp/p", RAW_URI=raw, SCRIPT_NAME="/api", PATH_INFO=path_info)


def test_script_name_that_ends_in_a_slash_is_removed_unchanged():
    assert rewritten("/api/x", RAW_URI="/api/x", SCRIPT_NAME="/api/", PATH_INFO="x") == "x"
    with pytest.raises(MalformedURL, match="outside the mount"):
        rewritten("/apix", RAW_URI="/api/../apix", SCRIPT_NAME="/api/", PATH_INFO="../apix")


def test_mount_is_found_in_a_path_without_its_dot_segments():
    assert rewritten("/api/p", REQUEST_URI="/x/../api/p", SCRIPT_NAME="/api", PATH_INFO="/p") == "/p"
    assert rewritten("/x", REQUEST_URI="/y/../x", SCRIPT_NAME="/api", PATH_INFO="/x") == "/x"


def test_mount_is_rejected_when_dot_segments_hide_it():
    with pytest.raises(MalformedURL, match="dot segments hide"):
        rewritten("/p", REQUEST_URI="/./p", SCRIPT_NAME="/api", PATH_INFO="/../p")


@pytest.mark.parametrize(
    ("received", "canonical", "path_info"),
    [
        ("/api//../", "/api/", "/"),
        ("/..//api/p", "//api/p", "/..//api/p"),
        ("/api/%2e/../x", "/x", "/x"),
        ("/api/%2E/../x", "/x", "/x"),
        ("/api/a%2F../x", "/api/a%2F../x", "/x"),
        ("/api/a%2f../x", "/api/a%2F../x", "/x"),
        ("/api%2F/../x", "/x", "/x"),
    ],
    ids=[
        "merged slashes",
        "leading slashes",
        "an encoded dot",
        "an encoded dot in upper case",
        "an encoded slash before a dot",
        "an encoded slash in lower case",
        "an encoded slash before a slash",
    ],
)
def test_dot_segments_that_servers_remove_in_different_ways_are_rejected_under_a_mount(received, canonical, path_info):
    with pytest.raises(MalformedURL, match="dot segments hide"):
        rewritten(canonical, REQUEST_URI=received, SCRIPT_NAME="/api", PATH_INFO=path_info)


def test_script_name_is_rejected_when_only_the_canonical_path_starts_with_it():
    with pytest.raises(MalformedURL, match="only the canonical path"):
        rewritten("/api/p", REQUEST_URI="/./api/p", SCRIPT_NAME="/api", PATH_INFO="/./api/p")


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


def test_query_string_is_the_verified_one_whatever_the_server_showed():
    shown = {"SCRIPT_NAME": "", "PATH_INFO": "/p", "RAW_URI": "/p?a=1"}
    for environ in (shown, {**shown, "QUERY_STRING": "b=2"}):
        verified = verified_environ(environ, canonicalize("https://seller.example.com/p?a=1"), OWN)
        assert (verified["QUERY_STRING"], verified["RAW_URI"]) == ("a=1", "/p?a=1")


def _keys(count: int) -> dict[str, object]:
    return {f"HTTP_A{number}": "1" for number in range(count)}


def test_more_fields_than_the_bound_are_too_many_whatever_else_the_environ_has():
    other = {f"wsgi.{number}": "" for number in range(MOST_FIELDS)}
    assert not has_too_many_fields({**_keys(MOST_FIELDS), **other})
    assert has_too_many_fields({**_keys(MOST_FIELDS + 1), **other})
    assert has_too_many_fields(_keys(MOST_FIELDS + 1))


@pytest.mark.parametrize("kind", [list, tuple])
def test_fields_that_only_the_asgi_scope_shows_are_counted(kind):
    most = [(b"a", b"1")] * MOST_FIELDS
    assert has_too_many_fields({"HTTP_A": "1", "asgi.scope": {"headers": kind([*most, (b"a", b"2")])}})
    assert not has_too_many_fields({"HTTP_A": "1", "asgi.scope": {"headers": kind(most)}})


def test_fields_of_an_iterator_are_left_unread():
    headers = iter([(b"a", b"1")] * (MOST_FIELDS + 1))
    assert not has_too_many_fields({"HTTP_A": "1", "asgi.scope": {"headers": headers}})
    assert len(list(headers)) == MOST_FIELDS + 1


KEYS = st.sampled_from(
    ["HTTP_HOST", "HTTP_", "HTTP_X_USER", "HTTP_x-User", "HTTP_HOST_", "http_host", "wsgi.input", "PATH_INFO"]
)


@given(environ=st.dictionaries(KEYS, st.text(max_size=3)))
def test_every_key_that_starts_with_http_is_a_field_named_by_what_follows(environ):
    named = [(key[5:].lower().replace("_", "-"), text) for key, text in environ.items() if key.startswith("HTTP_")]
    assert field_lines(environ) == named


@given(shown=st.sampled_from(["HTTP/", ""]), version=st.sampled_from(["1.1", "1.0", "1", "2", "2.0", "3.0", "2.1"]))
def test_http_version_has_no_minor_version_from_two_on(shown, version):
    expected = version[0] if version in {"2.0", "3.0"} else version
    assert http_version({"SERVER_PROTOCOL": shown + version}) == expected


PATHS = st.text("ab/.%2F\xe9", max_size=5).map(lambda text: f"/{text}")


@given(raw=PATHS.filter(str.isascii), path=PATHS, mount=st.sampled_from(["", "/a", "/a/", "/\u0100"]))
def test_path_info_is_accepted_exactly_if_it_may_be_the_raw_target(raw, path, mount):
    environ = {"RAW_URI": raw, "PATH_INFO": path, "SCRIPT_NAME": mount}
    try:
        received = RequestTarget.parse(raw.encode())
        octets = path.encode("latin-1")
        is_same = received.is_path(octets, mount.encode("latin-1") + octets)
    except (MalformedURL, UnicodeEncodeError):
        is_same = False
    if is_same:
        assert request_target(environ, profiles.ADCP_3_2, reconstruct=False) == received
    else:
        with pytest.raises(MalformedURL):
            request_target(environ, profiles.ADCP_3_2, reconstruct=False)


@given(path=st.lists(st.sampled_from(["a", "%2F", "%C3%A9", "%FF", "~"]), max_size=5).map("/".join))
def test_application_gets_the_canonical_path_decoded(path):
    verified = canonicalize(f"https://seller.example.com/{path}?a")
    new = verified_environ({"PATH_INFO": "/", "RAW_URI": "/"}, verified, OWN)
    decoded = unquote_to_bytes(verified.path).decode("latin-1")
    assert (new["PATH_INFO"], new["QUERY_STRING"], new["RAW_URI"]) == (decoded, "a", f"{verified.path}?a")

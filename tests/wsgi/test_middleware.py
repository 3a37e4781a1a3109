"""The WSGI middleware on real servers, and by hand when no server can be made to send a message."""

from __future__ import annotations

import io
import json
import socket

import pytest
from tests import drive
from tests.keys import HOST, ORIGIN
from tests.serving import waitress_server
from tests.wire import TOO_MANY, ask, assert_rejected

from undersigned import (
    AsyncVerifier,
    ConfigurationError,
    KeySet,
    MemoryReplayStore,
    Policy,
    profiles,
)
from undersigned.wsgi import SignatureMiddleware

BARE = ("@method", "@target-uri", "@authority")
JSON = [("Content-Type", "application/json")]
BODY = b'{"plan_id":"plan_001"}'


class Echo:
    """An application that answers with what it sees, and remembers that it was called."""

    def __init__(self) -> None:
        self.calls: list[dict] = []

    def __call__(self, environ, start_response):
        signature = environ["undersigned"].signature
        seen = {
            "path": environ["PATH_INFO"],
            "raw": environ.get("RAW_URI") or environ.get("REQUEST_URI"),
            "query": environ["QUERY_STRING"],
            "scheme": environ["wsgi.url_scheme"],
            "keyid": signature and signature.keyid,
            "target_uri": signature and signature.target_uri,
            "body": environ["wsgi.input"].read().decode("latin-1") if signature else "",
            "transfer_encoding": environ.get("HTTP_TRANSFER_ENCODING"),
        }
        self.calls.append(seen)
        content = json.dumps(seen).encode()
        start_response("200 OK", [("Content-Length", str(len(content)))])
        return [content]


@pytest.fixture
def echo() -> Echo:
    return Echo()


def test_too_many_header_fields_are_answered_431(party, echo):
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], mode="optional")
    with waitress_server(app) as port:
        for read, too_many in party.around_the_most_fields():
            assert ask(port, read).json["path"] == "/p"
            assert_rejected(ask(port, too_many), TOO_MANY, 431)


def test_lone_question_mark_is_part_of_what_is_signed(party, app):
    assert run(app, environ_of(party, target="/p?", url=f"{ORIGIN}/p")) == (401, {"error": "request_signature_invalid"})


def test_rejected_head_is_answered_without_content_and_keeps_the_connection(party, app):
    head = f"HEAD /p HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
    with waitress_server(app) as port, socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(head + party.raw("GET", "/p"))
        answered = b"".join(iter(lambda: connection.recv(65536), b""))
    rejected, _, following = answered.partition(b"\r\n\r\n")
    assert rejected.startswith(b"HTTP/1.1 401 ")
    assert following.startswith(b"HTTP/1.1 200 ")


def test_environ_variables_that_are_not_header_fields_are_not_counted(party, app):
    assert run(app, environ_of(party, **{f"X_HTTP_{at}": "v" for at in range(1024)}))[0] == 200


def test_header_fields_of_an_asgi_scope_are_counted_one_by_one(party, echo, app):
    scope = {"headers": [(b"x_y", b"")] * 101}
    assert run(app, environ_of(party, **{"asgi.scope": scope})) == (431, {"error": TOO_MANY})
    assert echo.calls == []


def test_header_fields_of_an_asgi_scope_are_read_once(party, app):
    shown = iter([(b"host", HOST.encode()), (b"a-b", b"1"), (b"a_b", b"2")])
    environ = environ_of(party, **{"asgi.scope": {"type": "http", "headers": shown}})
    malformed = {"error": "request_signature_header_malformed"}
    assert run(app, environ) == (401, malformed)


def test_stop_iteration_of_the_fallback_raises_a_runtime_error(party, echo):
    def fallback(_environ):
        raise StopIteration(None)

    policy = Policy(required_for=["create_media_buy"])
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], policy=policy, fallback=fallback)
    environ = unsigned_of(party, method="POST", target="/adcp/create_media_buy", headers=JSON, body=BODY)
    with pytest.raises(RuntimeError, match="StopIteration"):
        run(app, environ)
    assert echo.calls == []


def environ_of(party, *, method="GET", target="/p", headers=(), body=b"", url=None, **others):
    """An environ as gunicorn makes it, of a signed request."""
    signed = party.fields(method, url or f"{ORIGIN}{target}", body, headers)
    environ = drive.environ_of(drive.Message(target, method, signed, body), "gunicorn")
    return {
        key: value for key, value in {**environ, "wsgi.input_terminated": True, **others}.items() if value is not None
    }


def unsigned_of(party, **others):
    """An environ of the same request without a signature."""
    environ = environ_of(party, **others)
    return {key: value for key, value in environ.items() if not key.startswith("HTTP_SIGNATURE")}


def run(app, environ):
    """Call `app` in process; return the status code and the content."""
    answer = drive.call_wsgi(app, environ)
    return answer.status, json.loads(answer.content)


@pytest.fixture
def app(party, echo):
    return SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN])


def test_application_gets_its_own_environ(party, app):
    environ = environ_of(party)
    before = dict(environ)
    assert run(app, environ)[0] == 200
    assert environ == before


@pytest.mark.parametrize("is_late", [False, True])
def test_layers_outside_see_what_the_application_writes_and_not_what_was_verified(party, is_late):
    def respond(environ, start_response):
        environ["REMOTE_USER"], environ["SCRIPT_NAME"] = "u1", "/mounted"
        start_response("200 OK", [])
        yield b"[]"

    def at_once(environ, start_response):
        return list(respond(environ, start_response))

    environ = environ_of(party, target="/%61?b", url=f"{ORIGIN}/a?b", PATH_INFO="/a")
    before = dict(environ)
    app = SignatureMiddleware(respond if is_late else at_once, verifier=party.verifier(), origins=[ORIGIN])
    assert run(app, environ) == (200, [])
    assert environ == {**before, "REMOTE_USER": "u1", "SCRIPT_NAME": "/mounted"}


@pytest.mark.parametrize(
    ("others", "code"),
    [
        ({"CONTENT_LENGTH": "22", "HTTP_TRANSFER_ENCODING": "chunked"}, "request_signature_header_malformed"),
        ({"CONTENT_LENGTH": "+22"}, "request_signature_header_malformed"),
        ({"CONTENT_LENGTH": "22, 22"}, "request_signature_header_malformed"),
        ({"CONTENT_LENGTH": "21"}, "request_signature_digest_mismatch"),
        (
            {"CONTENT_LENGTH": None, "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": None},
            "request_signature_header_malformed",
        ),
        ({"HTTP_": "folded"}, "request_signature_header_malformed"),
        ({"HTTP_X_FOLDED": "a\r\n b"}, "request_signature_header_malformed"),
        ({"REQUEST_METHOD": "post"}, "request_target_uri_malformed"),
        ({"HTTP_HOST": None}, "request_target_uri_malformed"),
        ({"HTTP_HOST": f"{HOST},{HOST}"}, "request_target_uri_malformed"),
        ({"REQUEST_URI": "/q"}, "request_target_uri_malformed"),
        ({"PATH_INFO": "/q"}, "request_target_uri_malformed"),
        ({"RAW_URI": "/caf\u20ac"}, "request_target_uri_malformed"),
    ],
)
def test_malformed_request_that_a_server_accepts_is_rejected_with_a_code(party, app, echo, others, code):
    environ = environ_of(party, method="POST", headers=JSON, body=BODY, **others)
    assert run(app, environ) == (401, {"error": code})
    assert echo.calls == []


@pytest.mark.parametrize(
    "others",
    [
        {"RAW_URI": None},
        {"SERVER_PROTOCOL": "HTTP/2"},
        {"werkzeug.proxy_fix.orig": {}},
    ],
)
def test_server_that_hides_the_signed_target_is_answered_503(party, app, echo, others):
    assert run(app, environ_of(party, **others)) == (503, {"error": "request_signature_server_unsupported"})
    assert echo.calls == []


def test_http2_of_a_named_server_is_accepted(party, echo):
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], http2_server="gunicorn")
    for protocol in ("HTTP/2", "HTTP/2.0"):
        assert run(app, environ_of(party, SERVER_PROTOCOL=protocol))[0] == 200


class Dribbling(io.BytesIO):
    """A stream that gives less than it is asked for."""

    def read(self, size=-1):
        return super().read(min(size, 5))


def test_content_that_a_server_gives_in_parts_is_read_to_its_length_and_no_further(party, app):
    stream = Dribbling(BODY + b"GET /next HTTP/1.1")
    environ = environ_of(party, method="POST", headers=JSON, body=BODY, **{"wsgi.input": stream})
    assert run(app, environ)[1]["body"] == BODY.decode()
    assert stream.tell() == len(BODY)


class Interrupted(io.BytesIO):
    """A stream whose second part cannot be read, and which goes on after it."""

    def read(self, _size=-1):
        octets = super().read(5)
        if self.tell() == 10:
            raise OSError("partial")
        return octets


@pytest.mark.parametrize("stream", [Interrupted(BODY), Dribbling(BODY[:-1])])
def test_no_other_credential_makes_up_for_content_that_cannot_be_read_whole(party, echo, stream):
    policy = Policy(warn_for=["p"])
    app = SignatureMiddleware(
        echo, verifier=party.verifier(), origins=[ORIGIN], policy=policy, fallback=lambda _environ: True
    )
    changed = environ_of(party, method="POST", headers=JSON, body=BODY, **{"wsgi.input": Dribbling(BODY.swapcase())})
    assert run(app, changed)[0] == 200
    environ = environ_of(party, method="POST", headers=JSON, body=BODY, **{"wsgi.input": stream})
    assert run(app, environ) == (400, {"error": "content_incomplete"})


@pytest.mark.parametrize("framing", [{"CONTENT_LENGTH": "22"}, {"HTTP_TRANSFER_ENCODING": "chunked"}])
def test_application_is_told_the_length_of_the_verified_content(party, framing):
    seen = {}

    def application(environ, start_response):
        seen.update(environ)
        start_response("200 OK", [])
        return [b"{}"]

    environ = environ_of(party, method="POST", headers=JSON, body=BODY)
    environ.pop("CONTENT_LENGTH", None)
    environ |= {"wsgi.input_terminated": "HTTP_TRANSFER_ENCODING" in framing, **framing}
    assert run(SignatureMiddleware(application, verifier=party.verifier(), origins=[ORIGIN]), environ)[0] == 200
    assert (seen["CONTENT_LENGTH"], seen["wsgi.input_terminated"]) == (str(len(BODY)), True)
    assert "HTTP_TRANSFER_ENCODING" not in seen
    assert seen["wsgi.input"].read() == BODY


class Giving(io.BytesIO):
    """A stream whose every read is answered by `answer` of it."""

    def __init__(self, content, answer):
        super().__init__(content)
        self._answer = answer

    def read(self, size=-1):
        return self._answer(super().read(size))


@pytest.mark.parametrize("answer", [bytearray, memoryview])
def test_content_in_another_buffer_type_is_read(party, app, answer):
    environ = environ_of(party, method="POST", headers=JSON, body=BODY, **{"wsgi.input": Giving(BODY, answer)})
    assert run(app, environ)[1]["body"] == BODY.decode()


@pytest.mark.parametrize(
    "stream",
    [
        io.BytesIO(),
        Dribbling(BODY[:-1]),
        Giving(BODY, lambda _: 1 / 0),
        Giving(BODY, lambda _: None),
        Giving(BODY, bytes.decode),
        Giving(BODY, lambda read: [*read]),
        Giving(BODY, lambda read: read + b"evil"),
    ],
    ids=["empty", "too short", "an exception", "nothing", "text", "numbers", "more than was asked for"],
)
def test_stream_is_rejected_when_it_does_not_return_what_was_asked_for(party, app, echo, request, stream):
    environ = environ_of(party, method="POST", headers=JSON, body=BODY, **{"wsgi.input": stream})
    is_more = "more" in request.node.name
    rejection = (401, "request_signature_digest_mismatch") if is_more else (400, "content_incomplete")
    assert run(app, environ) == (rejection[0], {"error": rejection[1]})
    assert echo.calls == []


def test_unsigned_content_in_parts_is_joined_for_a_policy(party, echo):
    policy = Policy(supported_for=["create_media_buy"])
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], policy=policy)
    environ = unsigned_of(party, method="POST", headers=JSON, body=BODY, **{"wsgi.input": Dribbling(BODY)})
    assert run(app, environ)[0] == 200


def test_unsigned_content_that_the_server_cannot_read_is_rejected_if_a_policy_must_read_it(party, echo):
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], policy=Policy())
    unreadable = {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": None, "wsgi.input_terminated": None}
    environ = unsigned_of(party, method="POST", headers=JSON, body=BODY, **unreadable)
    assert run(app, environ) == (401, {"error": "request_signature_header_malformed"})


def test_chunked_body_over_the_limit_is_answered_413(party, echo):
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], max_body=10)
    environ = environ_of(
        party, method="POST", headers=JSON, body=BODY, CONTENT_LENGTH=None, HTTP_TRANSFER_ENCODING="chunked"
    )
    assert run(app, environ) == (413, {"error": "content_too_large"})


def test_content_never_reaches_the_application_when_it_was_signed_without_any(party, app):
    answer = run(app, environ_of(party, **{"wsgi.input": io.BytesIO(b"evil")}))
    assert answer[1]["body"] == ""


def test_target_is_rebuilt_from_plain_parts_only_when_reconstruct_is_set(party, echo):
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], reconstruct=True)
    assert run(app, environ_of(party, target="/a/b?x=a+b", RAW_URI=None))[0] == 200
    assert run(app, environ_of(party, target="/a/b", RAW_URI=None))[0] == 200
    environ = environ_of(party, target="/a%2Fb", RAW_URI=None, PATH_INFO="/a b")
    assert run(app, environ) == (401, {"error": "request_target_uri_malformed"})


def test_target_of_a_mounted_application_is_verified_with_its_prefix(party, app):
    for target, path_info in (("/sub/a%2Fb", "/a/b"), ("/sub/./a/b", "/./a/b")):
        environ = environ_of(party, target=target, SCRIPT_NAME="/sub", PATH_INFO=path_info)
        assert run(app, environ)[1]["path"] == "/a/b"
    environ = environ_of(party, target="/sub", SCRIPT_NAME="/sub", PATH_INFO="")
    assert run(app, environ)[1]["path"] == ""


def test_canonical_path_outside_the_mount_is_rejected(party, app, echo):
    environ = environ_of(
        party, target="/sub/../admin", url=f"{ORIGIN}/admin", SCRIPT_NAME="/sub", PATH_INFO="/../admin"
    )
    assert run(app, environ) == (401, {"error": "request_target_uri_malformed"})
    assert echo.calls == []


def test_script_name_field_of_an_unsigned_request_is_rejected_under_a_policy(party, echo):
    # The policy and the application would see two paths.
    policy = Policy(required_for=["create_media_buy"])
    app = SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN], policy=policy)
    for mounted, status in (("", 200), ("/a", 503)):
        environ = unsigned_of(party, target="/a/p", SCRIPT_NAME=mounted, PATH_INFO="/p", HTTP_SCRIPT_NAME="/a")
        assert run(app, environ)[0] == status


def test_script_name_changes_nothing_when_the_server_strips_nothing(party, app):
    environ = environ_of(party, target="/a", SCRIPT_NAME="/api", PATH_INFO="/a")
    assert run(app, environ)[1]["path"] == "/a"


def test_path_without_its_dot_segments_becomes_the_signed_path(party, app):
    assert run(app, environ_of(party, target="//x/./y", PATH_INFO="/x/y"))[1]["path"] == "//x/y"
    assert run(app, environ_of(party, target="/x/y/.", PATH_INFO="/x/y/"))[1]["path"] == "/x/y/"
    assert run(app, environ_of(party, target="/x/../y", PATH_INFO="/y"))[1]["path"] == "/y"


def test_target_is_read_from_the_asgi_scope_in_the_environ(party, app):
    scope = {"type": "http", "headers": [], "raw_path": b"/a%2Fb", "path": "/a/b", "query_string": b"x=1"}
    environ = environ_of(party, target="/a%2Fb?x=1", RAW_URI=None, **{"asgi.scope": scope})
    answer = run(app, environ)[1]
    assert (answer["path"], answer["query"]) == ("/a/b", "x=1")


def test_async_verifier_is_rejected_by_name(party, echo):
    verifier = AsyncVerifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(party.jwks), replay=MemoryReplayStore())
    with pytest.raises(ConfigurationError, match="AsyncVerifier"):
        SignatureMiddleware(echo, verifier=verifier, origins=[ORIGIN])

"""The WSGI middleware on real servers, and by hand when no server can be made to send a message."""

from __future__ import annotations

import io

import pytest
from tests import drive
from tests.keys import BODY, HOST, ORIGIN
from tests.middleware.gate import OverWSGI

from undersigned import AsyncVerifier, ConfigurationError, KeySet, MemoryReplayStore, Policy, profiles
from undersigned.wsgi import SignatureMiddleware

MALFORMED = (401, "request_target_uri_malformed")


@pytest.fixture
def gate(party):
    return OverWSGI(party)


def test_environ_variables_that_are_not_header_fields_are_not_counted(gate):
    assert gate.signed("GET", "/p", **{f"X_HTTP_{at}": "v" for at in range(1024)})[0] == 200


def test_header_fields_of_an_asgi_scope_are_read_once(gate):
    shown = iter([(b"host", HOST.encode()), (b"a-b", b"1"), (b"a_b", b"2")])
    rejected = (401, "request_signature_header_malformed")
    assert gate.signed("GET", "/p", **{"asgi.scope": {"type": "http", "headers": shown}}) == rejected


def test_stop_iteration_of_the_fallback_raises_a_runtime_error(party):
    def fallback(_environ):
        raise StopIteration(None)

    policy = Policy(required_for=["create_media_buy"])
    gate = OverWSGI(party, policy=policy, fallback=fallback)
    with pytest.raises(RuntimeError, match="StopIteration"):
        gate.unsigned("POST", "/adcp/create_media_buy", BODY)
    assert gate.calls == []


def environ_of(party, target="/p", url=None):
    """An environ as gunicorn makes it, of a signed request."""
    return drive.environ_of(drive.Message(target, "GET", party.fields("GET", url or target)), "gunicorn")


def test_application_gets_its_own_environ(gate, party):
    environ = environ_of(party)
    before = dict(environ)
    assert drive.call_wsgi(gate.app, environ).status == 200
    assert environ == before


@pytest.mark.parametrize("is_late", [False, True])
def test_layers_outside_see_what_the_application_writes_and_not_what_was_verified(party, is_late):
    def respond(environ, start_response):
        environ["REMOTE_USER"], environ["SCRIPT_NAME"] = "u1", "/mounted"
        start_response("200 OK", [])
        yield b"[]"

    def at_once(environ, start_response):
        return list(respond(environ, start_response))

    environ = environ_of(party, "/%61?b", "/a?b")
    before = dict(environ)
    app = SignatureMiddleware(respond if is_late else at_once, verifier=party.verifier(), origins=[ORIGIN])
    assert drive.call_wsgi(app, environ).content == b"[]"
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
def test_malformed_request_that_a_server_accepts_is_rejected_with_a_code(gate, others, code):
    assert gate.signed("POST", "/p", BODY, **others) == (401, code)
    assert gate.calls == []


@pytest.mark.parametrize("others", [{"RAW_URI": None}, {"SERVER_PROTOCOL": "HTTP/2"}, {"werkzeug.proxy_fix.orig": {}}])
def test_server_that_hides_the_signed_target_is_answered_503(gate, others):
    assert gate.signed("GET", "/p", **others) == (503, "request_signature_server_unsupported")
    assert gate.calls == []


class Dribbling(io.BytesIO):
    """A stream that gives less than it is asked for."""

    def read(self, size=-1):
        return super().read(min(size, 5))


def test_content_that_a_server_gives_in_parts_is_read_to_its_length_and_no_further(gate):
    stream = Dribbling(BODY + b"GET /next HTTP/1.1")
    assert gate.accepts("POST", "/p", BODY, **{"wsgi.input": stream}).body == BODY
    assert stream.tell() == len(BODY)


class Interrupted(io.BytesIO):
    """A stream whose second part cannot be read, and which goes on after it."""

    def read(self, _size=-1):
        octets = super().read(5)
        if self.tell() == 10:
            raise OSError("partial")
        return octets


@pytest.mark.parametrize("stream", [Interrupted(BODY), Dribbling(BODY[:-1])])
def test_no_other_credential_makes_up_for_content_that_cannot_be_read_whole(party, stream):
    gate = OverWSGI(party, policy=Policy(warn_for=["p"]), fallback=lambda _environ: True)
    assert gate.signed("POST", "/p", BODY, **{"wsgi.input": Dribbling(BODY.swapcase())})[0] == 200
    assert gate.signed("POST", "/p", BODY, **{"wsgi.input": stream}) == (400, "content_incomplete")


@pytest.mark.parametrize("framing", [{"CONTENT_LENGTH": "22"}, {"HTTP_TRANSFER_ENCODING": "chunked"}])
def test_application_is_told_the_length_of_the_verified_content(gate, framing):
    framing = {"CONTENT_LENGTH": None, "wsgi.input_terminated": "HTTP_TRANSFER_ENCODING" in framing, **framing}
    told = gate.accepts("POST", "/p", BODY, **framing)
    assert (told.context["CONTENT_LENGTH"], told.context["wsgi.input_terminated"]) == (str(len(BODY)), True)
    assert "HTTP_TRANSFER_ENCODING" not in told.context
    assert told.body == BODY


class Giving(io.BytesIO):
    """A stream whose every read is answered by `answer` of it."""

    def __init__(self, content, answer):
        super().__init__(content)
        self._answer = answer

    def read(self, size=-1):
        return self._answer(super().read(size))


@pytest.mark.parametrize("answer", [bytearray, memoryview])
def test_content_in_another_buffer_type_is_read(gate, answer):
    assert gate.accepts("POST", "/p", BODY, **{"wsgi.input": Giving(BODY, answer)}).body == BODY


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
def test_stream_is_rejected_when_it_does_not_return_what_was_asked_for(gate, request, stream):
    is_more = "more" in request.node.name
    rejection = (401, "request_signature_digest_mismatch") if is_more else (400, "content_incomplete")
    assert gate.signed("POST", "/p", BODY, **{"wsgi.input": stream}) == rejection
    assert gate.calls == []


def test_unsigned_content_in_parts_is_joined_for_a_policy(party):
    policy = Policy(supported_for=["create_media_buy"])
    gate = OverWSGI(party, policy=policy)
    assert gate.unsigned("POST", "/p", BODY, **{"wsgi.input": Dribbling(BODY)})[0] == 200


def test_unsigned_content_that_the_server_cannot_read_is_rejected_if_a_policy_must_read_it(party):
    gate = OverWSGI(party, policy=Policy())
    unreadable = {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": None, "wsgi.input_terminated": None}
    assert gate.unsigned("POST", "/p", BODY, **unreadable) == (401, "request_signature_header_malformed")


def test_content_never_reaches_the_application_when_it_was_signed_without_any(gate):
    assert gate.accepts("GET", "/p", **{"wsgi.input": io.BytesIO(b"evil")}).body == b""


def test_target_is_rebuilt_from_plain_parts_only_when_reconstruct_is_set(party, caplog):
    gate = OverWSGI(party, reconstruct=True)
    assert gate.signed("GET", "/a/b?x=a+b", RAW_URI=None)[0] == 200
    assert gate.signed("GET", "/a/b", RAW_URI=None)[0] == 200
    assert gate.signed("GET", "/a%20b", RAW_URI=None, PATH_INFO="/a b") == MALFORMED
    assert ". Fix: the request may be valid: use a server that shows the raw target" in caplog.text
    assert "origins=" not in caplog.text


def test_script_name_field_of_an_unsigned_request_is_rejected_under_a_policy(party):
    # The policy and the application would see two paths.
    policy = Policy(required_for=["create_media_buy"])
    gate = OverWSGI(party, policy=policy)
    for mounted, status in (("", 200), ("/a", 503)):
        assert gate.unsigned("GET", "/a/p", SCRIPT_NAME=mounted, PATH_INFO="/p", HTTP_SCRIPT_NAME="/a")[0] == status


def test_path_without_its_dot_segments_becomes_the_signed_path(gate):
    assert gate.accepts("GET", "//x/./y", PATH_INFO="/x/y").path == "//x/y"
    assert gate.accepts("GET", "/x/y/.", PATH_INFO="/x/y/").path == "/x/y/"
    assert gate.accepts("GET", "/x/../y", PATH_INFO="/y").path == "/y"


def test_async_verifier_is_rejected_by_name(party):
    verifier = AsyncVerifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(party.jwks), replay=MemoryReplayStore())
    with pytest.raises(ConfigurationError, match="AsyncVerifier"):
        SignatureMiddleware(None, verifier=verifier, origins=[ORIGIN])

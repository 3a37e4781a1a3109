"""The ASGI middleware on real servers, and by hand when no server can be made to send a message."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest
import trio
from starlette.testclient import TestClient
from tests.drive import Message, call_asgi, scope_of
from tests.keys import BODY, HOST, JSON, ORIGIN
from tests.middleware.gate import OverASGI
from tests.serving import uvicorn_server
from tests.wire import ask, assert_rejected, exchange, raw_request, read_answer, read_response

from undersigned import (
    AsyncVerifier,
    ConfigurationError,
    KeySet,
    MemoryReplayStore,
    Policy,
    Request,
    SignatureError,
    Signer,
    profiles,
)
from undersigned.asgi import SignatureMiddleware, verified_signature
from undersigned.signature.rules import CoverageRule

BARE = ("@method", "@target-uri", "@authority")
SERVERS = ["h11", "httptools"]


@pytest.fixture
def gate(party):
    return OverASGI(party)


@pytest.fixture(params=SERVERS)
def port(request, gate):
    with uvicorn_server(gate.app, http=request.param) as port:
        yield port


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("body", [b"", b"{}", b"octets"])
def test_unsigned_chunked_body_reaches_the_application_under_a_policy(party, server, body):
    policy = Policy(required_for=["create_media_buy"])
    gate = OverASGI(party, policy=policy)
    head = raw_request("POST", "/p", [("Host", HOST), ("Transfer-Encoding", "chunked")])
    chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n" if body else b""
    with uvicorn_server(gate.app, http=server) as port:
        exchange(port, head + chunk + b"0\r\n\r\n")
    assert gate.body == body


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("content", "tampered", "answer"),
    [(b"", False, 200), (b"octets", False, "components_incomplete"), (b"", True, "components_incomplete")],
    ids=["empty", "content", "another target"],
)
def test_empty_content_in_chunks_is_none_and_other_content_must_be_covered(
    gate, party, server, content, tampered, answer
):
    fields = [("Host", HOST), ("Transfer-Encoding", "chunked"), *party.fields("POST", f"{ORIGIN}/p", b"")]
    head = raw_request("POST", "/other" if tampered else "/p", fields)
    chunk = f"{len(content):x}\r\n".encode() + content + b"\r\n" if content else b""
    with uvicorn_server(gate.app, http=server) as port:
        response = ask(port, head + chunk + b"0\r\n\r\n")
    if answer == 200:
        assert gate.body == b""
    else:
        assert_rejected(response, f"request_signature_{answer}")
        assert gate.calls == []


def test_rejected_upload_of_100_mb_is_answered_without_reading_its_body(port, gate, party):
    fields = party.fields("POST", f"{ORIGIN}/p", BODY)
    head = raw_request(
        "POST",
        "/elsewhere",
        [("Host", HOST), ("Content-Length", str(100 * 1024 * 1024)), ("Expect", "100-continue"), *fields],
    )
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(head)
        response = read_response(connection)
    assert_rejected(read_answer(response), "request_signature_invalid")
    assert b"100 Continue" not in response
    assert gate.calls == []


def test_upload_is_read_only_after_its_signature_is_verified(port, gate, party):
    fields = party.fields("POST", f"{ORIGIN}/p", BODY)
    head = raw_request(
        "POST", "/p", [("Host", HOST), ("Content-Length", str(len(BODY))), ("Expect", "100-continue"), *fields]
    )
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(head)
        assert connection.recv(65536).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(BODY)
        assert read_answer(read_response(connection)).status == 200
    assert gate.body == BODY


@pytest.mark.parametrize("is_signed", [True, False])
def test_slow_body_that_must_be_read_is_answered_408(party, is_signed):
    gate = OverASGI(party, policy=Policy(), body_timeout=0.05)
    with uvicorn_server(gate.app) as port:
        raw = party.raw("POST", "/p", BODY) if is_signed else raw_request("POST", "/p", [("Host", HOST), *JSON], BODY)
        assert_rejected(ask(port, raw[:-4]), "request_timeout", 408)
    assert gate.calls == []


def test_scheme_is_the_scheme_of_the_origin_that_host_names(party):
    gate = OverASGI(party, origins=[ORIGIN, "http://localhost:8000"])
    with uvicorn_server(gate.app) as port:
        raw = party.raw("GET", "/p", host="localhost:8000", url="http://localhost:8000/p")
        assert ask(port, raw).status == 200
        assert_rejected(
            ask(port, party.raw("GET", "/p", host="localhost:8000", url="https://localhost:8000/p")),
            "request_signature_invalid",
        )
    assert [call.context["scheme"] for call in gate.calls] == ["http"]


def test_rejected_request_lets_one_that_waits_for_its_store_go_first(party):
    class Slow(MemoryReplayStore):
        async def async_claim(self, *names, **options):
            for _ in range(10):
                await asyncio.sleep(0)
            return self.claim(*names, **options)

    verifier = AsyncVerifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(party.jwks), replay=Slow())
    gate = OverASGI(party, verifier=verifier)
    answered = []

    async def answer(scope):
        answered.append((await call_asgi(gate.app, scope)).status)

    async def both():
        signed = http_scope(party)
        await asyncio.gather(answer({**signed, "method": "DELETE"}), answer(signed))

    asyncio.run(both())
    assert answered == [200, 401]


def run(app, scope, messages=()):
    """Call `app` in process; return what it sent."""
    sent: list[dict] = []
    waiting = list(messages)

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


def http_scope(party, *, method="GET", path="/p", headers=(), body=b"", **others):
    signed = party.fields(method, f"{ORIGIN}{path}", body, headers)
    return {**scope_of(Message(path, method, signed)), **others}


@pytest.mark.parametrize("wrong", [{"mode": "sometimes"}, {"max_bodyy": 3}])
def test_wrong_option_is_an_error_at_once_or_stops_the_start_of_the_server(gate, party, wrong):
    async def echo(_scope, _receive, _send):
        raise AssertionError

    options = {"verifier": party.verifier(), "origins": [ORIGIN], **wrong}
    with pytest.raises((ConfigurationError, TypeError), match=next(iter(wrong))):
        SignatureMiddleware(echo, **options)

    async def framework(scope, receive, send):
        await SignatureMiddleware(echo, **options)(scope, receive, send)

    # A test client of Starlette waits for ever if the call of the lifespan returns after a failure.
    with pytest.raises((ConfigurationError, TypeError), match=next(iter(wrong))), TestClient(framework):
        pytest.fail("started")
    with pytest.raises((ConfigurationError, TypeError), match=next(iter(wrong))):
        run(framework, http_scope(party))
    assert gate.calls == []


def test_scope_of_an_unknown_type_and_any_scope_on_trio_is_rejected(gate):
    with pytest.raises(ConfigurationError, match="telegram"):
        run(gate.app, {"type": "telegram"})
    with pytest.raises(ConfigurationError, match="on trio"):
        trio.run(gate.app, {"type": "http"}, None, None)


def test_application_gets_its_own_scope(gate, party):
    scope = http_scope(party, state={"db": "pool"})
    run(gate.app, scope, [{"type": "http.request", "body": b""}])
    held = gate.calls[0].context
    scope["headers"].append((b"x-user", b"admin"))
    assert (b"x-user", b"admin") not in held["headers"]
    assert held["state"]["db"] == "pool"


@pytest.mark.parametrize("state", [{}, {"state": {"db": "pool"}}])
@pytest.mark.parametrize("is_signed", [True, False])
def test_layers_outside_see_what_the_application_writes_and_not_what_was_verified(party, state, is_signed):
    scope = http_scope(party, raw_path=b"/%70", root_path="", **state)
    if not is_signed:
        scope["headers"] = [(b"host", HOST.encode())]
    before, seen = dict(scope), []

    async def app(inner, _receive, send):
        inner["route"], inner["root_path"] = "/{plan}", "/mounted"
        inner["state"]["user"] = "u1"
        await send({"type": "http.response.start", "status": 200})
        inner["user"] = "u1"
        raise LookupError

    async def receive():
        return {"type": "http.request"}

    async def send(_message):
        seen.append((scope["route"], scope["root_path"], scope["state"]["user"]))

    middleware = SignatureMiddleware(app, verifier=party.verifier(), origins=[ORIGIN], mode="optional")
    with pytest.raises(LookupError):
        asyncio.run(middleware(scope, receive, send))
    assert seen == [("/{plan}", "/mounted", "u1")]
    kept = {name: value for name, value in scope.items() if name != "state"}
    before = {name: value for name, value in before.items() if name != "state"}
    assert kept == {**before, "route": "/{plan}", "root_path": "/mounted", "user": "u1"}


def test_content_never_reaches_the_application_when_it_was_signed_without_any(party):
    received = []

    async def app(_scope, receive, _send):
        received.extend([(await receive())["type"], (await receive())["type"]])

    options = {"verifier": party.verifier(), "origins": [ORIGIN], "http2_server": "hypercorn"}
    messages = [{"type": "http.request", "body": b"", "more_body": True}, {"type": "http.request", "body": b"evil"}]
    run(SignatureMiddleware(app, **options), http_scope(party, http_version="2"), messages)
    assert received == ["http.request", "http.disconnect"]


def test_chunks_are_replayed_in_order_before_messages_of_the_server(party):
    received = []

    async def app(_scope, receive, _send):
        received.extend([await receive(), await receive(), await receive()])

    scope = http_scope(party, method="POST", headers=JSON, body=BODY)
    scope["headers"].append((b"content-length", str(len(BODY)).encode()))
    messages = [
        {"type": "http.request", "body": BODY[:3], "more_body": True},
        {"type": "http.request", "body": BODY[3:], "more_body": True},
        {"type": "http.request", "body": b""},
    ]
    run(SignatureMiddleware(app, verifier=party.verifier(), origins=[ORIGIN]), scope, messages)
    assert received == [
        {"type": "http.request", "body": BODY[:3], "more_body": True},
        {"type": "http.request", "body": BODY[3:], "more_body": False},
        {"type": "http.disconnect"},
    ]


def handshake(party, **others):
    scope = http_scope(party, type="websocket", scheme="ws", **others)
    del scope["method"]
    return scope


def test_websocket_handshake_is_verified_like_a_request(gate, party):
    sent = run(gate.app, handshake(party), [{"type": "websocket.connect"}])
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.close"]
    assert gate.calls[0].context["scheme"] == "wss"


def test_unsigned_handshake_has_no_content_to_read(party):
    gate = OverASGI(party, policy=Policy())
    scope = {**handshake(party), "headers": [(b"host", HOST.encode()), (b"content-length", b"7")]}
    sent = run(gate.app, scope, [{"type": "websocket.connect"}])
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.close"]


def test_handshake_with_a_covered_digest_is_rejected_as_it_has_no_content(party):
    profile = profiles.ADCP_3_2.derive(coverage=CoverageRule(always=(*BARE, "content-digest")))
    signed = Signer(party.key, profile=profile).sign(Request("GET", f"{ORIGIN}/p"))
    scope = handshake(party)
    scope["headers"] = [(b"host", HOST.encode()), *[(n.lower().encode(), v.encode()) for n, v in signed]]
    gate = OverASGI(party, profile=profile)
    sent = run(gate.app, scope, [{"type": "websocket.connect"}])
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.close"]


def test_websocket_over_plain_http_has_the_scheme_ws(party):
    gate = OverASGI(party, origins=["http://seller.example.com"])
    scope = handshake(party)
    signed = party.fields("GET", "http://seller.example.com/p")
    scope["headers"] = [(b"host", HOST.encode()), *[(n.lower().encode(), v.encode()) for n, v in signed]]
    run(gate.app, scope, [{"type": "websocket.connect"}])
    assert gate.calls[0].context["scheme"] == "ws"


@pytest.mark.parametrize(("accepted_first", "code"), [(False, 3401), (False, 4500), (True, 3401), (False, 4403)])
@pytest.mark.parametrize("extensions", [{}, {"websocket.http.response": {}}], ids=["closed", "answered"])
def test_handshake_that_a_route_rejects_and_closes_has_the_status_of_its_decision(
    party, extensions, accepted_first, code
):
    async def route(scope, _receive, send):
        if accepted_first:
            await send({"type": "websocket.accept"})
        with contextlib.suppress(SignatureError):
            verified_signature(scope)
        await send({"type": "websocket.close", "code": code})

    decisions = []
    options = {"verifier": party.verifier(), "origins": [ORIGIN], "mode": "optional", "on_decision": decisions.append}
    scope = {**handshake(party), "headers": [(b"host", HOST.encode())], "extensions": extensions}
    sent = run(SignatureMiddleware(route, **options), scope)
    if accepted_first or not extensions or code == 4403:
        assert sent[-1] == {"type": "websocket.close", "code": code}
    else:
        assert (sent[0]["type"], sent[0]["status"]) == ("websocket.http.response.start", decisions[-1].status)
    assert decisions[-1].status == (401 if extensions else 403)


def test_rejected_handshake_is_closed_or_answered_when_the_server_can(gate, party):
    scope = handshake(party, path="/p")
    scope["path"], scope["raw_path"] = "/q", b"/q"
    assert run(gate.app, scope)[0] == {"type": "websocket.close", "code": 1008, "reason": ""}
    answered = run(gate.app, {**scope, "extensions": {"websocket.http.response": {}}})
    assert [message["type"] for message in answered] == [
        "websocket.http.response.start",
        "websocket.http.response.body",
    ]
    assert answered[0]["status"] == 401
    assert run(gate.app, {**scope, "headers": [(b"host", HOST.encode())]})[0]["type"] == "websocket.close"
    assert gate.calls == []


@pytest.mark.parametrize(("root_path", "status"), [("/a", 503), ("", 200)])
def test_daphne_root_path_field_of_an_unsigned_request_is_rejected_under_a_policy(party, root_path, status):
    # The policy and the application would see two paths.
    policy = Policy(required_for=["create_media_buy"])
    gate = OverASGI(party, policy=policy)
    scope = http_scope(party, root_path=root_path)
    scope["headers"] = [(b"host", HOST.encode()), (b"daphne-root-path", b"/a")]
    assert run(gate.app, scope, [{"type": "http.request"}])[0]["status"] == status


def test_version_that_any_sender_can_claim_is_not_logged_as_an_error(gate, party, caplog):
    caplog.clear()
    with caplog.at_level("WARNING", logger="undersigned"):
        for version in ("2", "3", "2.0", "0.9"):
            run(gate.app, http_scope(party, http_version=version))
    assert [record.levelname for record in caplog.records if record.name == "undersigned"] == ["WARNING"] * 4


def test_http2_of_a_named_server_is_accepted_only_with_equal_authorities(party):
    gate = OverASGI(party, http2_server="daphne")
    both = http_scope(party, http_version="2")
    both["headers"].append((b"host", HOST.encode()))
    assert run(gate.app, both, [{"type": "http.request"}])[0]["status"] == 200
    differ = http_scope(party, http_version="2")
    differ["headers"].append((b"host", b"evil.example"))
    assert run(gate.app, differ)[0]["status"] == 401

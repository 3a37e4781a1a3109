"""The Tornado middleware and decorator on Tornado's own server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading

import pytest
from tests.keys import BODY, JSON, KEYID, ORIGIN, ORIGINS
from tests.wire import ask, assert_rejected, assert_unsigned, exchange, raw_request, read_response
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.routing import PathMatches, Rule, RuleRouter
from tornado.web import Application, RequestHandler, stream_request_body
from tornado.websocket import WebSocketHandler

from undersigned import ConfigurationError, Policy, SignatureError, Verifier
from undersigned.asgi import Disconnected
from undersigned_tornado import SignatureMiddleware, find_signature, signature_required, verified_signature
from undersigned_tornado.body import Body

UNSIGNED = "request_signature_required"


@contextlib.contextmanager
def serve_tornado(app, **options):
    """Serve an application by Tornado in a thread; yields the port."""
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    ports = []

    async def serve() -> None:
        server = HTTPServer(app, **options)
        sockets = bind_sockets(0, "127.0.0.1")
        server.add_sockets(sockets)
        ports.append(sockets[0].getsockname()[1])
        ready.set()
        await stop.wait()
        server.stop()
        await server.close_all_connections()
        # A transport that is being closed still needs the loop.
        await asyncio.sleep(0.1)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(20)
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()


def answer(handler: RequestHandler) -> None:
    signature = verified_signature(handler.request)
    handler.write(
        {
            "caller": signature.keyid,
            "path": handler.request.path,
            "signed": signature.target_uri,
            "body": handler.request.body.decode(),
        }
    )


class Async(RequestHandler):
    @signature_required
    async def post(self, rest: str) -> None:
        assert rest
        await asyncio.sleep(0)
        answer(self)


class Sync(RequestHandler):
    @signature_required
    def post(self, rest: str) -> None:
        assert rest
        answer(self)


class Whole(RequestHandler):
    @signature_required
    def prepare(self) -> None:
        pass

    def post(self, rest: str) -> None:
        assert rest
        answer(self)


class Public(RequestHandler):
    def get(self) -> None:
        signature = find_signature(self.request)
        self.write({"signed": None if signature is None else signature.keyid, "path": self.request.path})

    def post(self) -> None:
        self.write({"body": self.request.body.decode(), "signed": find_signature(self.request) is not None})


@stream_request_body
class Streamed(RequestHandler):
    def initialize(self) -> None:
        self.chunks: list[bytes] = []

    async def data_received(self, chunk: bytes) -> None:
        self.chunks.append(chunk)

    def put(self) -> None:
        signature = find_signature(self.request)
        length = sum(map(len, self.chunks))
        self.write({"length": length, "many": len(self.chunks) > 1, "signed": signature is not None})


class Talk(WebSocketHandler):
    @signature_required
    async def get(self, *args: str, **kwargs: str) -> None:
        await super().get(*args, **kwargs)

    def open(self) -> None:
        self.write_message(verified_signature(self.request).keyid)
        self.close()


PATHS = ["/async", "/sync", "/whole"]


def application() -> Application:
    return Application(
        [
            ("/async/(.*)", Async),
            ("/sync/(.*)", Sync),
            ("/whole/(.*)", Whole),
            ("/(?:public|~public)", Public),
            ("/streamed", Streamed),
            ("/talk", Talk),
        ]
    )


def make(verifier, **options) -> SignatureMiddleware:
    if "policy" not in options:
        options.setdefault("mode", "optional")
    return SignatureMiddleware(application(), verifier=verifier, origins=ORIGINS, **options)


@pytest.fixture(scope="module")
def port(party):
    with serve_tornado(make(party.verifier())) as port:
        yield port


@pytest.mark.parametrize("path", PATHS)
def test_signed_request_reaches_the_handler_once_and_an_unsigned_one_does_not(port, path, party):
    target = f"{path}/a%2Fb?plan=1"
    raw = party.raw("POST", target, BODY)
    expected = {"caller": KEYID, "path": f"{path}/a%2Fb", "signed": f"{ORIGIN}{target}", "body": BODY.decode()}
    assert ask(port, raw).json == expected
    assert_rejected(ask(port, raw), "request_signature_replayed")
    unsigned = ask(port, raw_request("POST", target, JSON, BODY))
    assert_unsigned(unsigned)


def test_handler_without_requirement_is_open_and_knows_whether_the_request_is_signed(port, party):
    assert ask(port, raw_request("GET", "/public")).json == {"signed": None, "path": "/public"}
    assert ask(port, party.raw("GET", "/public")).json == {"signed": KEYID, "path": "/public"}
    assert ask(port, raw_request("POST", "/public", JSON, BODY)).json == {"body": BODY.decode(), "signed": False}


def test_router_gets_the_canonical_path_that_was_verified(port, party):
    assert ask(port, party.raw("GET", "/x/../%7Epublic")).json == {"signed": KEYID, "path": "/~public"}


@pytest.mark.parametrize("size", [10, 200_000])
def test_handler_that_streams_gets_an_unsigned_body_in_parts_and_a_signed_one_after_verification(port, size, party):
    body = b"x" * size
    unsigned = ask(port, raw_request("PUT", "/streamed", JSON, body)).json
    assert unsigned == {"length": size, "many": size > 100_000, "signed": False}
    assert ask(port, party.raw("PUT", "/streamed", body)).json["length"] == size


def test_chunked_body_is_verified(port, party):
    fields = party.fields("POST", "/sync/x", BODY)
    head = raw_request("POST", "/sync/x", [*fields, ("Transfer-Encoding", "chunked")])
    raw = head + b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (5, BODY[:5], len(BODY) - 5, BODY[5:])
    assert ask(port, raw).json["body"] == BODY.decode()


def test_client_that_waits_for_100_is_answered_before_it_sends_a_body(port, party):
    fields = party.fields("POST", "/sync/x", BODY, signer=party.stranger)
    expect = [*fields, ("Expect", "100-continue"), ("Content-Length", str(len(BODY)))]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(raw_request("POST", "/sync/x", expect))
        assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")


def test_connection_is_kept_after_a_rejection_without_a_body(port, party):
    rejected = raw_request("GET", "/public", [("Signature", "sig1=:AA==:")])
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(rejected.replace(b"Connection: close\r\n", b""))
        assert read_response(connection).startswith(b"HTTP/1.1 401 ")
        connection.sendall(party.raw("POST", "/sync/x", BODY))
        assert KEYID.encode() in read_response(connection)


def test_signed_handshake_is_accepted_and_an_unsigned_one_gets_401(port, party):
    upgrade = [
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Sec-WebSocket-Version", "13"),
    ]

    def handshake(fields) -> bytes:
        raw = raw_request("GET", "/talk", [*upgrade, *fields]).replace(b"Connection: close", b"Connection: Upgrade")
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(raw)
            received = b""
            while b"\r\n\r\n" not in received or KEYID.encode() not in received:
                chunk = connection.recv(65536)
                received += chunk
                if not chunk or received.startswith(b"HTTP/1.1 401"):
                    break
        return received

    assert handshake([]).startswith(b"HTTP/1.1 401 ")
    accepted = handshake(party.fields("GET", "/talk"))
    assert accepted.startswith(b"HTTP/1.1 101 ")
    assert KEYID.encode() in accepted


def test_body_that_ends_early_reaches_no_handler(port, party):
    raw = party.raw("POST", "/sync/x", BODY).replace(b"Content-Length: 22", b"Content-Length: 99")
    assert exchange(port, raw, shut=True) == b""
    # The server still answers.
    assert ask(port, raw_request("GET", "/public")).status == 200


def test_stream_that_ends_early_ends_the_handler(port):
    raw = raw_request("PUT", "/streamed", JSON, b"x" * 22).replace(b"Content-Length: 22", b"Content-Length: 99")
    assert exchange(port, raw, shut=True) == b""


def test_request_that_tornado_rejects_is_answered_400(port):
    assert exchange(port, b"GET /public HTTP/1.1\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_head_of_a_rejected_request_has_no_content(port):
    received = exchange(port, raw_request("HEAD", "/public", [("Signature", "sig1=:AA==:")]))
    assert received.startswith(b"HTTP/1.1 401 ")
    assert received.endswith(b"\r\n\r\n")


def test_rejected_body_is_not_kept(party):
    with serve_tornado(make(party.verifier(), max_body=10)) as port:
        fields = [*party.fields("POST", "/sync/x", BODY), ("Transfer-Encoding", "chunked")]
        chunks = b"16\r\n%s\r\n20000\r\n%s\r\n0\r\n\r\n" % (BODY, b"x" * 0x20000)
        assert exchange(port, raw_request("POST", "/sync/x", fields) + chunks).startswith(b"HTTP/1.1 413 ")


def test_content_that_nobody_wants_any_more_holds_up_no_connection():
    async def feed() -> None:
        body = Body()
        waiting = asyncio.get_running_loop().create_task(body.feed(b"a"))
        await asyncio.sleep(0)
        body.end()
        body.stop()
        await asyncio.wait_for(waiting, 20)
        await asyncio.wait_for(body.feed(b"b"), 20)
        body.disconnect()
        with pytest.raises(Disconnected):
            await body.receive()

    asyncio.run(feed())


def test_policy_and_fallback_decide_and_the_handler_gets_the_body(party):
    decisions = []

    async def is_known(request) -> bool:
        return request.headers.get("Authorization") == "Bearer good"

    policy = Policy(required_for=["public"])
    options = {"policy": policy, "fallback": is_known, "on_decision": decisions.append}
    with serve_tornado(make(party.verifier(), **options)) as port:
        known = raw_request("POST", "/public", [*JSON, ("Authorization", "Bearer good")], BODY)
        assert ask(port, known).json == {"body": BODY.decode(), "signed": False}
        assert_rejected(ask(port, raw_request("POST", "/public", JSON, BODY)), UNSIGNED)
        assert ask(port, party.raw("POST", "/public", BODY)).json == {"body": BODY.decode(), "signed": True}
    assert [decision.outcome for decision in decisions] == ["unsigned", "rejected", "verified"]


def test_rejection_by_a_handler_is_a_decision(party):
    decisions = []
    with serve_tornado(make(party.verifier(), on_decision=decisions.append)) as port:
        ask(port, raw_request("POST", "/sync/x", JSON, BODY))
    assert [(told.outcome, told.method, told.code) for told in decisions] == [
        ("unsigned", "POST", None),
        ("rejected", "POST", UNSIGNED),
    ]


def test_one_router_may_require_signatures(party):
    """A router around the middleware guards one part of a service."""
    guarded = SignatureMiddleware(application(), verifier=party.verifier(), origins=ORIGINS)
    router = RuleRouter(
        [Rule(PathMatches("/open"), Application([("/open", Public)])), Rule(PathMatches("/.*"), guarded)]
    )
    with serve_tornado(router) as port:
        assert_rejected(ask(port, raw_request("GET", "/public")), UNSIGNED)
        assert ask(port, party.raw("GET", "/public")).json["signed"] == KEYID


@pytest.mark.parametrize("blocks", [False, True])
def test_function_that_fails_is_answered_500_and_logged(party, caplog, blocks):
    def broken(_request) -> bool:
        raise RuntimeError("the caller is unknown")

    verifier = party.verifier()
    assert isinstance(verifier, Verifier)
    with (
        serve_tornado(make(verifier, policy=Policy(required_for=["x"]), fallback=broken)) as port,
        caplog.at_level(logging.ERROR, "undersigned"),
    ):
        body = BODY if blocks else b""
        assert ask(port, raw_request("POST", "/sync/x", JSON, body)).status == 500
    assert "the caller is unknown" in caplog.text


def test_guarded_handler_fails_without_the_middleware_and_the_error_says_to_add_it(caplog):
    with serve_tornado(application()) as port, caplog.at_level(logging.ERROR):
        assert ask(port, raw_request("POST", "/sync/x", JSON, BODY)).status == 500
    assert "HTTPServer(SignatureMiddleware(app, ...))" in caplog.text


def test_requiring_a_missing_signature_raises_the_rejection(party):
    raised = []

    class Careless(RequestHandler):
        def get(self) -> None:
            try:
                verified_signature(self.request)
            except SignatureError as error:
                raised.append(error.code)
            self.write("{}")

    options = {"verifier": party.verifier(), "origins": ORIGINS, "mode": "optional"}
    with serve_tornado(SignatureMiddleware(Application([("/", Careless)]), **options)) as port:
        ask(port, raw_request("GET", "/"))
    assert raised == [UNSIGNED]


@pytest.mark.parametrize("thing", [None, "post", RequestHandler])
def test_decorator_rejects_anything_but_a_function(thing):
    with pytest.raises(ConfigurationError, match="decorate the methods"):
        signature_required(thing)


def test_wrong_option_is_a_configuration_error(party):
    with pytest.raises(ConfigurationError, match=r"^max_body: "):
        make(party.verifier(), max_body="1M")


PREFLIGHT = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")]


def test_guarded_prepare_lets_a_preflight_pass_to_the_options_of_its_handler(party):
    class Shared(Whole):
        def options(self, _rest: str) -> None:
            self.set_status(204)

    options = {"verifier": party.verifier(), "origins": ORIGINS, "mode": "optional"}
    with serve_tornado(SignatureMiddleware(Application([("/whole/(.*)", Shared)]), **options)) as port:
        assert ask(port, raw_request("OPTIONS", "/whole/x", PREFLIGHT)).status == 204
        assert ask(port, raw_request("OPTIONS", "/whole/x")).status == 401
        assert ask(port, raw_request("POST", "/whole/x", PREFLIGHT)).status == 401


def test_function_shapes_the_answer_with_the_request_of_the_framework(party):
    def shape(response, request):
        return response.with_content(request.method.encode(), "text/plain")

    with serve_tornado(make(party.verifier(), mode="required", rejection=shape)) as port:
        answer = ask(port, raw_request("PUT", "/public"))
    assert (answer.status, answer.content, answer.fields["content-type"]) == (401, b"PUT", "text/plain")
    assert "accept-signature" in answer.fields


def test_long_content_that_no_policy_reads_reaches_the_handler_whole(party):
    body = b"x" * 300_000
    with serve_tornado(make(party.verifier(), policy=Policy(required_for=["buy"]))) as port:
        answer = ask(port, raw_request("POST", "/public", [("Content-Type", "text/plain")], body))
    assert answer.json == {"body": body.decode(), "signed": False}

"""The integration of Sanic's own server."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import socket
import threading

import pytest
from sanic import Blueprint, Sanic
from sanic.response import json as json_response
from sanic.views import HTTPMethodView
from tests.keys import BODY, HOST, JSON, KEYID, ORIGIN, ORIGINS
from tests.serving import uvicorn_server
from tests.wire import ask, assert_rejected, assert_unsigned, exchange, raw_request

from undersigned import ConfigurationError, Policy
from undersigned_sanic import (
    SignatureRequired,
    find_signature,
    signature_required,
    verified_signature,
    verify_signatures,
)

UNSIGNED = "request_signature_required"
NAMES = itertools.count()


@contextlib.contextmanager
def serve_sanic(app: Sanic):
    """Serve an application by Sanic in a thread; yields the port."""
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    bound = socket.create_server(("127.0.0.1", 0))

    async def serve() -> None:
        server = await app.create_server(sock=bound, return_asyncio_server=True, access_log=False)
        await server.startup()
        await server.start_serving()
        ready.set()
        await stop.wait()
        server.close()
        await server.wait_closed()
        # A transport that is being closed still needs the loop.
        await asyncio.sleep(0.1)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(20)
    try:
        yield bound.getsockname()[1]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()
        bound.close()


def answer(request):
    signature = verified_signature(request)
    told = {"caller": signature.keyid, "path": request.path, "signed": signature.target_uri}
    return json_response({**told, "body": request.body.decode()})


class ClassView(HTTPMethodView):
    decorators = (signature_required,)

    async def post(self, request, rest):
        assert rest
        return answer(request)


def application() -> Sanic:  # noqa: C901 - one route after another
    app, blueprint = Sanic(f"tests{next(NAMES)}", configure_logging=False), Blueprint("all", url_prefix="/blueprint")
    # Sanic rewrites its classes for the first application of a process.
    app.config.TOUCHUP = False

    @app.post("/async/<rest:path>")
    @signature_required
    async def asynchronous(request, rest):
        assert rest
        return answer(request)

    @app.post("/sync/<rest:path>")
    @signature_required
    def synchronous(request, rest):
        assert rest
        return answer(request)

    @blueprint.on_request
    async def signed(request) -> None:
        verified_signature(request)

    @blueprint.post("/<rest:path>")
    async def guarded(request, rest):
        assert rest
        return answer(request)

    @app.route("/public", methods=["GET", "POST", "HEAD"])
    async def public(request):
        signature = find_signature(request)
        return json_response({"signed": None if signature is None else signature.keyid, "body": request.body.decode()})

    @app.post("/streamed", stream=True)
    async def streamed(request):
        length = 0
        while (chunk := await request.stream.read()) is not None:
            length += len(chunk)
        return json_response({"length": length})

    @app.get("/optional-signature")
    async def careless(request):
        with pytest.raises(SignatureRequired) as raised:
            verified_signature(request)
        return json_response({"code": raised.value.error.code})

    @app.websocket("/talk")
    @signature_required
    async def talk(request, websocket) -> None:
        await websocket.send(verified_signature(request).keyid)

    sockets = Blueprint("sockets")
    sockets.on_request(signed)

    @sockets.websocket("/blueprint-talk")
    async def guarded_talk(request, websocket) -> None:
        await websocket.send(verified_signature(request).keyid)

    app.add_route(ClassView.as_view(), "/class/<rest:path>")
    app.blueprint(blueprint)
    app.blueprint(sockets)
    return app


PATHS = ["/async", "/sync", "/class", "/blueprint"]


def make(verifier, **options) -> Sanic:
    if "policy" not in options:
        options.setdefault("mode", "optional")
    app = application()
    verify_signatures(app, verifier=verifier, origins=ORIGINS, **options)
    return app


@pytest.fixture(scope="module")
def port(party):
    with serve_sanic(make(party.verifier())) as port:
        yield port


@pytest.mark.parametrize("path", PATHS)
def test_signed_request_reaches_the_handler_once_and_an_unsigned_one_does_not(port, path, party):
    target = f"{path}/a%2Fb?plan=1"
    raw = party.raw("POST", target, BODY)
    expected = {"caller": KEYID, "path": f"{path}/a%2Fb", "signed": f"{ORIGIN}{target}", "body": BODY.decode()}
    assert ask(port, raw).json == expected
    assert_rejected(ask(port, raw), "request_signature_replayed")
    assert_unsigned(ask(port, raw_request("POST", target, JSON, BODY)))


def test_handler_without_requirement_is_open_and_knows_whether_the_request_is_signed(port, party):
    assert ask(port, raw_request("GET", "/public")).json == {"signed": None, "body": ""}
    assert ask(port, party.raw("GET", "/public")).json == {"signed": KEYID, "body": ""}
    assert ask(port, raw_request("POST", "/public", JSON, BODY)).json == {"signed": None, "body": BODY.decode()}


def test_target_is_rejected_when_sanic_would_route_another_spelling(port, party):
    assert_rejected(ask(port, party.raw("GET", "/x/../public")), "request_target_uri_malformed")
    assert_rejected(ask(port, party.raw("GET", "/%70ublic")), "request_target_uri_malformed")


@pytest.mark.parametrize("size", [10, 200_000])
def test_streaming_handler_reads_unsigned_and_signed_content(port, size, party):
    body = b"x" * size
    for raw in (raw_request("POST", "/streamed", JSON, body), party.raw("POST", "/streamed", body)):
        assert ask(port, raw).json == {"length": size}


def test_chunked_body_is_verified(port, party):
    fields = party.fields("POST", "/sync/x", BODY)
    head = raw_request("POST", "/sync/x", [*fields, ("Transfer-Encoding", "chunked")])
    raw = head + b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (5, BODY[:5], len(BODY) - 5, BODY[5:])
    assert ask(port, raw).json["body"] == BODY.decode()


def handshake(port: int, path: str, fields) -> bytes:
    """What the server answers to a handshake, up to the name of the caller or the end."""
    upgrade = [
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Sec-WebSocket-Version", "13"),
    ]
    raw = raw_request("GET", path, [*upgrade, *fields]).replace(b"Connection: close", b"Connection: Upgrade")
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(raw)
        while KEYID.encode() not in received and not received.endswith(b"}"):
            chunk = connection.recv(65536)
            received += chunk
            if not chunk:
                break
    return received


@pytest.mark.parametrize("path", ["/talk", "/blueprint-talk"])
def test_signed_handshake_is_accepted_and_no_unsigned_one_reaches_the_handler(port, path, party):
    unsigned = handshake(port, path, [])
    assert KEYID.encode() not in unsigned
    # Sanic accepts a handshake before it runs its handler, and after a middleware.
    assert unsigned.startswith(b"HTTP/1.1 101 " if path == "/talk" else b"HTTP/1.1 401 ")
    accepted = handshake(port, path, party.fields("GET", path))
    assert accepted.startswith(b"HTTP/1.1 101 ")
    assert KEYID.encode() in accepted


def test_body_that_ends_early_reaches_no_handler(port, party):
    raw = party.raw("POST", "/sync/x", BODY).replace(b"Content-Length: 22", b"Content-Length: 99")
    assert KEYID.encode() not in exchange(port, raw, shut=True)
    assert ask(port, raw_request("GET", "/public")).status == 200


def test_unknown_route_is_not_found(port):
    assert ask(port, raw_request("GET", "/nothing")).status == 404


def test_policy_and_fallback_decide_and_the_handler_gets_the_body(party):
    decisions = []

    async def is_known(request) -> bool:
        return request.headers.get("Authorization") == "Bearer good"

    options = {"policy": Policy(required_for=["public"]), "fallback": is_known, "on_decision": decisions.append}
    with serve_sanic(make(party.verifier(), **options)) as port:
        known = raw_request("POST", "/public", [*JSON, ("Authorization", "Bearer good")], BODY)
        assert ask(port, known).json == {"body": BODY.decode(), "signed": None}
        assert_rejected(ask(port, raw_request("POST", "/public", JSON, BODY)), UNSIGNED)
        assert ask(port, party.raw("POST", "/public", BODY)).json == {"body": BODY.decode(), "signed": KEYID}
        assert_rejected(ask(port, raw_request("GET", "/x/../public")), "request_target_uri_malformed")
    assert [decision.outcome for decision in decisions][:3] == ["unsigned", "rejected", "verified"]


def test_rejection_by_a_handler_is_a_decision_with_its_route(party):
    decisions = []
    with serve_sanic(make(party.verifier(), on_decision=decisions.append)) as port:
        ask(port, raw_request("POST", "/sync/x", JSON, BODY))
    assert [(told.outcome, told.method, told.route) for told in decisions] == [
        ("unsigned", "POST", None),
        ("rejected", "POST", "/sync/<rest:path>"),
    ]


def test_requiring_a_missing_signature_raises_the_rejection(port):
    assert ask(port, raw_request("GET", "/optional-signature")).json == {"code": UNSIGNED}


def test_guarded_handler_fails_without_verification_and_the_error_says_to_add_it(caplog):
    with serve_sanic(application()) as port, caplog.at_level(logging.ERROR):
        assert ask(port, raw_request("POST", "/sync/x", JSON, BODY)).status == 500
    assert "call verify_signatures(app, ...)" in caplog.text


class Silent(Sanic):
    """An application from which another one has removed a signal."""

    def dispatch(self, event, *args, **kwargs):
        return asyncio.sleep(0) if event == "http.routing.before" else super().dispatch(event, *args, **kwargs)


def test_request_that_sanic_did_not_let_verify_reaches_no_handler(party, caplog):
    app = Silent(f"silent{next(NAMES)}", configure_logging=False)
    app.config.TOUCHUP = False
    app.add_route(lambda _request: pytest.fail("the handler ran"), "/")
    verify_signatures(app, verifier=party.verifier(), origins=ORIGINS)
    with serve_sanic(app) as port, caplog.at_level(logging.ERROR):
        assert ask(port, raw_request("GET", "/")).status == 500
    assert "set config.TOUCHUP = False" in caplog.text


def test_other_asgi_servers_are_named_the_middleware_to_use(party, caplog):
    app = make(party.verifier())
    events = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive() -> dict:
        return events.pop(0)

    async def send(_message) -> None:
        pass

    asyncio.run(app({"type": "lifespan"}, receive, send))
    with uvicorn_server(app) as port, caplog.at_level(logging.ERROR):
        assert ask(port, raw_request("GET", "/public")).status == 500
    assert "use undersigned.asgi.SignatureMiddleware instead" in caplog.text


@pytest.mark.parametrize("thing", [None, "post", HTTPMethodView])
def test_decorator_rejects_anything_but_a_function(thing):
    with pytest.raises(ConfigurationError, match="decorate a function"):
        signature_required(thing)


def test_wrong_option_is_a_configuration_error(party):
    with pytest.raises(ConfigurationError, match=r"^max_body: "):
        make(party.verifier(), max_body="1M")


def test_function_shapes_the_answer_with_the_request_of_the_framework(party):
    def shape(response, request):
        return response.with_content(request.method.encode(), "text/plain")

    with serve_sanic(make(party.verifier(), mode="required", rejection=shape)) as port:
        answer = ask(port, raw_request("PUT", "/public"))
    assert (answer.status, answer.content, answer.fields["content-type"]) == (401, b"PUT", "text/plain")
    assert "accept-signature" in answer.fields


def test_unsigned_request_is_decided_by_the_target_that_is_routed(party):
    with serve_sanic(make(party.verifier(), policy=Policy(required_for=["buy"]))) as port:
        assert_rejected(ask(port, raw_request("GET", f"http://{HOST}/public")), "request_target_uri_malformed")

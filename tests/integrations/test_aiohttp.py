"""The aiohttp middleware and decorator on aiohttp's own server."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading

import pytest
from aiohttp import ClientSession, web
from tests.keys import BODY, HOST, KEYID, ORIGIN, ORIGINS
from tests.wire import ask, assert_rejected, assert_unsigned, raw_request

from undersigned import ConfigurationError, Policy
from undersigned.middleware import Verification
from undersigned.policy import RouteResolver
from undersigned_aiohttp import (
    SignatureRequired,
    find_signature,
    signature_middleware,
    signature_required,
    verified_signature,
)

UNSIGNED = "request_signature_required"


@contextlib.contextmanager
def serve_aiohttp(app: web.Application):
    """Serve an application by aiohttp in a thread; yields the port."""
    ready, ports = threading.Event(), []
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ports.append(runner.addresses[0][1])
        ready.set()
        await stop.wait()
        await runner.cleanup()
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


def answer(request: web.Request) -> web.Response:
    signature = verified_signature(request)
    return web.json_response(
        {"keyid": signature.keyid, "target_uri": signature.target_uri, "path": request.path, "raw": request.raw_path}
    )


@signature_required
async def buy(request: web.Request) -> web.Response:
    assert await request.read() == BODY
    return answer(request)


@signature_required
async def stream(request: web.Request) -> web.Response:
    assert b"".join([chunk async for chunk in request.content.iter_any()]) == BODY
    return answer(request)


class Endpoint(web.View):
    @signature_required
    async def post(self) -> web.Response:
        assert await self.request.json() == {"plan_id": "plan_001"}
        return answer(self.request)


async def public(request: web.Request) -> web.Response:
    return web.json_response({"signed": find_signature(request) is not None, "body": len(await request.read())})


@signature_required
async def talk(request: web.Request) -> web.WebSocketResponse:
    talking = web.WebSocketResponse()
    await talking.prepare(request)
    await talking.send_str(verified_signature(request).keyid)
    await talking.close()
    return talking


def make(verifier, **options) -> web.Application:
    options = {"origins": ORIGINS, **({} if "policy" in options else {"mode": "optional"}), **options}
    app = web.Application(middlewares=[signature_middleware(verifier=verifier, **options)])
    app.add_routes([web.post("/view/{rest:.*}", buy), web.post("/stream/{rest:.*}", stream)])
    app.add_routes([web.view("/class/{rest:.*}", Endpoint), web.get("/talk", talk)])
    app.add_routes([web.route("*", "/public", public), web.get("/a/{rest:.*}", public)])
    return app


@pytest.fixture(scope="module")
def port(party):
    with serve_aiohttp(make(party.verifier())) as port:
        yield port


@pytest.mark.parametrize("path", ["/view", "/stream", "/class"])
def test_signed_request_reaches_the_handler_once_and_an_unsigned_one_does_not(port, path, party):
    raw = party.raw("POST", f"{path}/a%2Fb?plan=1", BODY)
    seen = {"target_uri": f"{ORIGIN}{path}/a%2Fb?plan=1", "path": f"{path}/a/b", "raw": f"{path}/a%2Fb?plan=1"}
    response = ask(port, raw)
    assert (response.status, response.json) == (200, {"keyid": KEYID, **seen})
    assert_rejected(ask(port, raw), "request_signature_replayed")
    assert_unsigned(ask(port, raw_request("POST", f"{path}/x", body=BODY)))


def test_handler_without_requirement_is_open_and_knows_whether_the_request_is_signed(port, party):
    assert ask(port, raw_request("POST", "/public", body=b"x" * 100_000)).json == {"signed": False, "body": 100_000}
    assert ask(port, party.raw("POST", "/public", BODY)).json == {"signed": True, "body": len(BODY)}
    assert ask(port, party.raw("GET", "/public")).json == {"signed": True, "body": 0}


def test_path_is_rejected_when_it_was_routed_in_another_spelling(port, party):
    assert ask(port, party.raw("GET", "/a/%7Eb")).status == 200
    assert_rejected(ask(port, party.raw("GET", "/a/../public")), "request_target_uri_malformed")


def test_unsigned_request_may_have_a_path_that_is_not_utf_8(port):
    assert ask(port, raw_request("GET", "/a/%FF")).json["signed"] is False


def test_signed_handshake_is_accepted_and_an_unsigned_one_gets_401(port, party):
    async def handshake(fields) -> tuple[int, str]:
        async with ClientSession() as session:
            headers = dict([("Host", HOST), *fields])
            async with session.ws_connect(f"http://127.0.0.1:{port}/talk", headers=headers) as talking:
                return await talking.receive_str()

    assert asyncio.run(handshake(party.fields("GET", "/talk"))) == KEYID
    upgrade = [
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
        ("Sec-WebSocket-Version", "13"),
    ]
    assert_unsigned(ask(port, raw_request("GET", "/talk", upgrade)))


def test_body_that_ends_early_reaches_no_handler(port, party):
    fields = [("Transfer-Encoding", "chunked"), ("Expect", "100-continue"), *party.fields("POST", "/view/x", BODY)]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(raw_request("POST", "/view/x", fields))
        # From here on the request is with the middleware.
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"16\r\n{")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""


def test_policy_and_fallback_decide_and_the_handler_gets_the_body(party):
    async def is_known(request: web.Request) -> bool:
        return request.headers.get("X-Key") == "known"

    policy, decisions = Policy(required_for=["public"]), []
    app = make(party.verifier(), policy=policy, fallback=is_known, on_decision=decisions.append)
    with serve_aiohttp(app) as port:
        assert_rejected(ask(port, raw_request("POST", "/public", body=BODY)), UNSIGNED)
        known = ask(port, raw_request("POST", "/public", [("X-Key", "known")], BODY))
        assert known.json == {"signed": False, "body": len(BODY)}
        assert ask(port, party.raw("POST", "/public", BODY)).json["signed"] is True
    assert [decision.outcome for decision in decisions] == ["rejected", "unsigned", "verified"]


# Misuse never opens a handler


def test_guarded_handler_fails_without_the_middleware_and_the_error_says_to_add_it(caplog):
    app = web.Application()
    app.add_routes([web.post("/view/{rest:.*}", buy)])
    with serve_aiohttp(app) as port:
        assert ask(port, raw_request("POST", "/view/x", body=BODY)).status == 500
    assert "middlewares=[signature_middleware(...)]" in caplog.text


def test_requiring_a_missing_signature_raises_the_rejection(party):
    errors = []

    async def unguarded(request: web.Request) -> web.Response:
        with pytest.raises(SignatureRequired) as caught:
            verified_signature(request)
        errors.append(caught.value.error.code)
        return web.Response()

    app = make(party.verifier())
    app.add_routes([web.get("/unguarded", unguarded)])
    with serve_aiohttp(app) as port:
        assert ask(port, raw_request("GET", "/unguarded")).status == 200
    assert errors == [UNSIGNED]


@pytest.mark.parametrize("thing", [None, lambda request: request, Endpoint])
def test_decorator_rejects_anything_but_an_async_function(thing):
    with pytest.raises(ConfigurationError, match="signature_required: decorate an async function"):
        signature_required(thing)


def test_middleware_outside_answers_the_preflights_of_a_signed_sub_application(party):
    @web.middleware
    async def cors(request: web.Request, handler):
        if request.method == "OPTIONS":
            return web.Response(status=204, headers={"Access-Control-Allow-Origin": "*"})
        return await handler(request)

    async def buy(_request: web.Request) -> web.Response:
        raise AssertionError

    plans = web.Application(middlewares=[signature_middleware(verifier=party.verifier(), origins=ORIGINS)])
    plans.add_routes([web.post("/{plan}", buy)])
    app = web.Application(middlewares=[cors])
    app.add_subapp("/plans", plans)
    asked = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")]
    with serve_aiohttp(app) as port:
        assert ask(port, raw_request("OPTIONS", "/plans/gold", asked)).status == 204
        assert ask(port, raw_request("POST", "/plans/gold", asked)).status == 401


def test_answer_to_a_request_that_the_policy_rejects_by_its_route_is_shaped(party):
    app = make(
        party.verifier(),
        policy=Policy(required_for=["buy"], resolver=RouteResolver()),
        rejection=lambda response, request: response.with_content(request.path.encode(), "text/plain"),
    )
    with serve_aiohttp(app) as port:
        answered = ask(port, raw_request("POST", "/view/x", body=BODY))
    assert (answered.status, answered.content) == (401, b"/view/x")


def test_request_is_not_held_by_its_own_verification(party):
    held = []

    async def handle(request: web.Request) -> web.Response:
        published = next(value for value in map(request.get, request) if isinstance(value, Verification))
        held.append(published.incoming.context)
        return web.Response()

    app = make(party.verifier())
    app.add_routes([web.get("/held", handle)])
    with serve_aiohttp(app) as port:
        assert ask(port, party.raw("GET", "/held")).status == 200
    assert held == [None]

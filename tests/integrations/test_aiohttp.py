"""What is particular to aiohttp's own server."""

from __future__ import annotations

import socket

import pytest
from aiohttp import web
from tests.integrations.every_framework import SECRET, aiohttp, optional
from tests.integrations.own_servers import aiohttp_server
from tests.keys import BODY, JSON, ORIGINS
from tests.wire import ask, assert_rejected, raw_request

from undersigned import Decision, Policy
from undersigned.middleware import Admission
from undersigned.policy import RouteResolver
from undersigned_aiohttp import SignatureMiddleware

ORDER = web.RequestKey("order", str)


def serve(party, path: str, handle):
    """Serve one handler behind the middleware."""
    app = web.Application(middlewares=[SignatureMiddleware(**optional(party))])
    app.add_routes([web.get(path, handle)])
    return aiohttp_server(app)


def test_path_is_rejected_when_it_was_routed_in_another_spelling(party):
    decisions: list[Decision] = []
    with aiohttp_server(aiohttp(optional(party, on_decision=decisions.append))) as port:
        assert ask(port, party.raw("GET", "/open/%7Eb")).status == 200
        assert_rejected(ask(port, party.raw("GET", "/signed/../open/x")), "request_target_uri_malformed")
    assert [(told.outcome, told.route) for told in decisions] == [("verified", None), ("rejected", None)]


def test_body_that_ends_in_the_middle_of_a_chunk_reaches_no_handler(party):
    fields = [("Transfer-Encoding", "chunked"), ("Expect", "100-continue"), *party.fields("POST", "/signed/x", BODY)]
    with (
        aiohttp_server(aiohttp(optional(party))) as port,
        socket.create_connection(("127.0.0.1", port), timeout=20) as connection,
    ):
        connection.sendall(raw_request("POST", "/signed/x", fields))
        # From here on the request is with the middleware.
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"16\r\n{")
        connection.shutdown(socket.SHUT_WR)
        assert SECRET.encode() not in connection.recv(100)


def test_policy_by_route_knows_the_handler_of_a_named_route_and_its_answer_is_shaped(party):
    async def buy(_request: web.Request) -> web.Response:
        raise AssertionError

    policy = Policy(required_for=["buy"], resolver=RouteResolver())
    options = {"verifier": party.verifier(), "origins": ORIGINS, "policy": policy}
    middleware = SignatureMiddleware(
        rejection=lambda response, request: response.with_content(request.path.encode(), "text/plain"), **options
    )
    app = web.Application(middlewares=[middleware])
    app.add_routes([web.put("/named", buy, name="free")])
    with aiohttp_server(app) as port:
        answered = ask(port, raw_request("PUT", "/named", JSON, BODY))
        assert ask(port, raw_request("POST", "/named", JSON, BODY)).status == 405
    assert (answered.status, answered.content) == (401, b"/named")


def test_view_is_asked_about_by_the_method_that_a_middleware_gives_the_request(party):
    @web.middleware
    async def override(request, handler):
        return await handler(request.clone(method=request.headers.get("Method", request.method)))

    class Buy(web.View):
        async def post(self) -> web.Response:
            raise AssertionError

    every = type("Every", (web.View,), {"_iter": Buy.post})
    policy = Policy(required_for=["buy"], resolver=RouteResolver({Buy: "buy", every: "buy"}))
    middleware = SignatureMiddleware(verifier=party.verifier(), origins=ORIGINS, policy=policy)
    app = web.Application(middlewares=[middleware, override])
    app.add_routes([web.view("/buy", Buy), web.view("/every", every)])
    asked = [("/buy", []), ("/buy", [("Method", "POST")]), ("/every", []), ("/none", [])]
    with aiohttp_server(app) as port:
        assert [ask(port, raw_request("PUT", *one)).status for one in asked] == [405, 401, 401, 404]


@pytest.mark.parametrize("target", ["/~a", "/%7Ea"])
def test_layers_outside_see_what_the_handler_keeps_and_the_files_of_an_upload_are_closed(party, target):
    seen, files = [], []

    async def handle(request: web.Request) -> web.Response:
        request[ORDER] = "o1"
        files.append((await request.post())["f"].file)
        return web.Response()

    @web.middleware
    async def outside(request: web.Request, handler) -> web.StreamResponse:
        answer = await handler(request)
        seen.append((request[ORDER], request.raw_path))
        return answer

    async def prepared(request: web.Request, _response: web.StreamResponse) -> None:
        seen.append((request[ORDER], request.raw_path))

    app = web.Application(middlewares=[outside, SignatureMiddleware(**optional(party))])
    app.on_response_prepare.append(prepared)
    app.add_routes([web.post("/~a", handle)])
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nx\r\n--x--\r\n'
    fields = [("Content-Type", "multipart/form-data; boundary=x")]
    with aiohttp_server(app) as port:
        signed = party.raw("POST", target, body, url=f"{ORIGINS[0]}/~a", fields=fields)
        assert ask(port, signed).status == 200
    assert seen == [("o1", target)] * 2
    assert [file.closed for file in files] == [True]


def test_request_is_not_held_by_its_own_admission(party):
    held = []

    async def handle(request: web.Request) -> web.Response:
        published = next(value for value in map(request.get, request) if isinstance(value, Admission))
        held.append(published.received.context)
        return web.Response()

    with serve(party, "/held", handle) as port:
        assert ask(port, party.raw("GET", "/held")).status == 200
    assert [context() for context in held] == [None]

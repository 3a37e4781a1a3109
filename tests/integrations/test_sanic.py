"""What is particular to Sanic's own server."""

from __future__ import annotations

import asyncio
import logging

import pytest
from sanic import Blueprint, Sanic
from sanic.response import empty
from tests.drive import call_asgi
from tests.integrations.every_framework import digested, optional, sanic
from tests.integrations.own_servers import sanic_app, sanic_server
from tests.keys import HOST, JSON, KEYID, ORIGINS
from tests.serving import uvicorn_server
from tests.wire import BODY, ask, assert_rejected, handshake, raw_request

from undersigned import Policy
from undersigned_sanic import Undersigned, signature_required, verified_signature


def test_target_is_rejected_when_sanic_would_route_another_spelling(party):
    with sanic_server(sanic(optional(party))) as port:
        assert_rejected(ask(port, party.raw("GET", "/x/../open/x")), "request_target_uri_malformed")
        assert_rejected(ask(port, party.raw("GET", "/%6Fpen/x")), "request_target_uri_malformed")


def test_unsigned_request_is_decided_by_the_target_that_is_routed(party):
    options = {"verifier": party.verifier(), "origins": ORIGINS, "policy": Policy(required_for=["listed"])}
    with sanic_server(sanic(options)) as port:
        for target in (f"http://{HOST}/open/x", "/x/../open/listed"):
            assert_rejected(ask(port, raw_request("GET", target)), "request_target_uri_malformed")


def test_guarded_blueprint_rejects_a_handshake_before_it_is_accepted_and_lets_preflights_pass(party):
    app, sockets = sanic_app(), Blueprint("sockets")

    @sockets.websocket("/talk")
    async def talk(request, websocket) -> None:
        await websocket.send(verified_signature(request).keyid)

    @sockets.options("/order")
    async def order(_request):
        return empty()

    app.blueprint(signature_required(sockets))
    Undersigned(app, **optional(party))
    asked = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")]
    with sanic_server(app) as port:
        assert handshake(port, "/talk").startswith(b"HTTP/1.1 401 ")
        accepted = handshake(port, "/talk", party.fields("GET", "/talk"))
        assert [ask(port, raw_request("OPTIONS", "/order", fields)).status for fields in (asked, [])] == [204, 401]
    assert accepted.startswith(b"HTTP/1.1 101 ")
    assert KEYID.encode() in accepted


class Silent(Sanic):
    """An application from which another one has removed a signal."""

    def dispatch(self, event, *args, **kwargs):
        return asyncio.sleep(0) if event == "http.routing.before" else super().dispatch(event, *args, **kwargs)


def test_request_that_sanic_did_not_let_verify_reaches_no_handler(party, caplog):
    app = sanic_app(Silent)
    app.add_route(lambda _request: pytest.fail("the handler ran"), "/")
    Undersigned(app, verifier=party.verifier(), origins=ORIGINS)
    with sanic_server(app) as port, caplog.at_level(logging.ERROR):
        assert ask(port, raw_request("GET", "/")).status == 500
    assert "set config.TOUCHUP = False" in caplog.text


@pytest.mark.parametrize("options", [{}, {"policy": Policy(required_for=["other"])}], ids=["mode", "policy"])
def test_application_that_an_asgi_server_or_a_test_client_runs_gets_what_was_signed(party, options):
    mode = {} if options else {"mode": "optional"}
    app = sanic({"verifier": party.verifier(), "origins": ORIGINS, **options, **mode})
    asyncio.run(call_asgi(app, {"type": "lifespan"}))
    with uvicorn_server(app) as port:
        assert ask(port, raw_request("GET", "/open/x")).status == 200
        for message in (party.raw("POST", "/read", BODY), raw_request("POST", "/read", JSON, BODY)):
            assert ask(port, message).json == digested(BODY)
        assert ask(port, party.raw("POST", "/read", BODY).replace(b"plan_001", b"plan_002")).status == 401
        assert ask(port, raw_request("GET", "/read")).status == 405

"""The requirement by hand: handshakes, the event loop, and misuse that must not open an endpoint."""

import asyncio

import pytest
from fastapi import FastAPI, WebSocket
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from tests.drive import Message, call_asgi, scope_of
from tests.keys import ORIGINS

from undersigned import ConfigurationError
from undersigned_fastapi import Signature
from undersigned_starlette import SignatureMiddleware, signature_required

UNSIGNED = "request_signature_required"


def run(app, scope) -> list[dict]:
    """Call an application with one scope; returns what it sends."""
    return asyncio.run(call_asgi(app, scope)).sent


def scope_with(fields=(), kind: str = "http", **more) -> dict:
    """Return the scope of a server that has no extensions and no state, unless they are given."""
    scope = scope_of(Message("/", "GET", fields), kind=kind)
    return {name: value for name, value in scope.items() if name not in {"state", "extensions"}} | more


def guard(verifier):
    app = FastAPI()

    @app.get("/")
    async def endpoint(signature: Signature) -> str:
        return signature.keyid

    @app.websocket("/")
    async def talk(websocket: WebSocket, signature: Signature) -> None:
        await websocket.accept()
        await websocket.send_text(signature.keyid)
        await websocket.close()

    return SignatureMiddleware(app, verifier=verifier, origins=ORIGINS, mode="optional")


def guard_starlette(verifier):
    @signature_required
    async def talk(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(websocket.scope["undersigned"].signature.keyid)
        await websocket.close()

    app = Starlette(routes=[WebSocketRoute("/", talk)])
    return SignatureMiddleware(app, verifier=verifier, origins=ORIGINS, mode="optional")


both = pytest.mark.parametrize("make", [guard, guard_starlette])


# WebSocket handshakes


@both
def test_unsigned_handshake_is_answered_like_a_request_when_the_server_can(make, party):
    scope = scope_with(kind="websocket", extensions={"websocket.http.response": {}})
    start, body = run(make(party.verifier()), scope)
    assert (start["type"], start["status"]) == ("websocket.http.response.start", 401)
    assert dict(start["headers"])[b"www-authenticate"].decode() == f'Signature error="{UNSIGNED}"'
    assert UNSIGNED.encode() in body["body"]


@both
@pytest.mark.parametrize("extensions", [{}, {"extensions": None}, {"extensions": {}}])
def test_unsigned_handshake_is_closed_when_the_server_cannot_answer_it(make, extensions, party):
    sent = run(make(party.verifier()), scope_with(kind="websocket", **extensions))
    assert sent == [{"type": "websocket.close", "code": 1008, "reason": UNSIGNED}]


# FastAPI


def test_dependency_runs_on_the_event_loop_without_a_thread(party, monkeypatch):
    def no_thread(*_args, **_kwargs):
        raise AssertionError("a thread was taken")

    monkeypatch.setattr("fastapi.dependencies.utils.run_in_threadpool", no_thread)
    start, _ = run(guard(party.verifier()), scope_with(fields=party.fields("GET", "/")))
    assert start["status"] == 200


# Misuse never opens an endpoint


def test_endpoint_that_is_called_without_its_request_does_not_run(party):
    app = FastAPI()
    app.add_middleware(SignatureMiddleware, verifier=party.verifier(), origins=ORIGINS)

    @app.get("/")
    @signature_required
    async def endpoint() -> str:
        raise AssertionError

    with pytest.raises(ConfigurationError, match="give it a request: Request parameter"):
        run(app, scope_with(fields=party.fields("GET", "/")))

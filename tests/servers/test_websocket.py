"""A real WebSocket handshake: it is verified like a request, and the application sees the verified values."""

from __future__ import annotations

import pytest
from tests.keys import KEYS
from tests.servers.requests_http1 import HOST, ORIGIN, signed
from tests.serving import uvicorn_server
from tests.wire import handshake

from undersigned import MemoryReplayStore, Verifier, canonicalize, profiles
from undersigned.asgi import SignatureMiddleware

ACCEPTED = {"/adcp/./events?x=a+b": "/adcp/events", "/a%2Fb": "/a/b", "/caf%c3%a9": "/café"}
REJECTED = [
    ("/q", f"{ORIGIN}/p", HOST),
    ("/a%2Fb", f"{ORIGIN}/a/b", HOST),
    ("//p", f"{ORIGIN}/p", HOST),
    ("/p", f"{ORIGIN}/p", "evil.example"),
    ("/p", "http://seller.example.com/p", HOST),
    ("/p", None, HOST),
]


@pytest.mark.parametrize("ws", ["websockets-sansio", "wsproto"])
def test_handshake_is_accepted_once_with_the_canonical_target_and_no_other_one_is(ws):
    ran, verifier = [], Verifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore())

    async def app(scope, receive, send) -> None:
        ran.append(f"{scope['path']} {scope['scheme']} {scope['undersigned'].signature.target_uri}")
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "told"})
        await send({"type": "websocket.close"})

    with uvicorn_server(SignatureMiddleware(app, verifier=verifier, origins=[ORIGIN]), ws=ws) as port:
        for target, path in ACCEPTED.items():
            fields = signed("GET", ORIGIN + target)
            assert handshake(port, target, fields).startswith(b"HTTP/1.1 101 ")
            assert ran.pop() == f"{path} wss {canonicalize(ORIGIN + target).target_uri}"
            assert not handshake(port, target, fields).startswith(b"HTTP/1.1 101 ")
        for target, url, host in REJECTED:
            fields = signed("GET", url) if url else []
            assert not handshake(port, target, [("Host", host), *fields]).startswith(b"HTTP/1.1 101 ")
    assert ran == []

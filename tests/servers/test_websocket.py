"""A real WebSocket handshake: it is verified like a request, and the application sees the verified values."""

from __future__ import annotations

import contextlib
import json
from socket import create_connection

import pytest
from tests.keys import KEYS
from tests.servers.requests_http1 import HOST, ORIGIN, signed
from tests.serving import uvicorn_server

from undersigned import MemoryReplayStore, Verifier, profiles
from undersigned.asgi import SignatureMiddleware


@contextlib.contextmanager
def expect_rejection():
    """Expect that the server answers the handshake with a status, or closes the connection."""
    from websockets import exceptions  # noqa: PLC0415 - it comes with the servers extra

    with pytest.raises((exceptions.InvalidStatus, exceptions.ConnectionClosed)):
        yield


class EchoApplication:
    """A WebSocket application that sends the values that it sees, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, scope, receive, send) -> None:
        self.calls += 1
        await receive()
        await send({"type": "websocket.accept"})
        seen = {
            "path": scope["path"],
            "raw_path": scope["raw_path"].decode(),
            "query": scope["query_string"].decode(),
            "scheme": scope["scheme"],
            "target_uri": scope["undersigned"].signature.target_uri,
            "fields": [[name.decode(), value.decode()] for name, value in scope["headers"]],
        }
        await send({"type": "websocket.send", "text": json.dumps(seen)})
        await send({"type": "websocket.close"})


@pytest.fixture
def application():
    return EchoApplication()


@pytest.fixture(params=["websockets-sansio", "wsproto"])
def port(request, application):
    verifier = Verifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore())
    app = SignatureMiddleware(application, verifier=verifier, origins=[ORIGIN])
    with uvicorn_server(app, ws=request.param) as port:
        yield port


def connect(port: int, target: str, fields, host: str = HOST):
    from websockets.sync import client  # noqa: PLC0415 - it comes with the servers extra

    connection = create_connection(("127.0.0.1", port), timeout=5)
    return client.connect(f"ws://{host}{target}", sock=connection, additional_headers=fields, proxy=None)


@pytest.mark.parametrize(
    ("target", "path"), [("/adcp/./events?x=a+b", "/adcp/events"), ("/a%2Fb", "/a/b"), ("/caf%c3%a9", "/café")]
)
def test_signed_handshake_is_accepted_with_the_canonical_target(port, target, path):
    with connect(port, target, signed("GET", ORIGIN + target)) as socket:
        seen = json.loads(socket.recv(timeout=5))
    assert (seen["path"], seen["scheme"]) == (path, "wss")
    assert seen["query"] == target.partition("?")[2]
    assert seen["target_uri"].startswith(ORIGIN)
    assert "upgrade" in {name for name, _ in seen["fields"]}


@pytest.mark.parametrize(
    ("target", "url", "host"),
    [
        ("/q", f"{ORIGIN}/p", HOST),
        ("/a%2Fb", f"{ORIGIN}/a/b", HOST),
        ("//p", f"{ORIGIN}/p", HOST),
        ("/p", f"{ORIGIN}/p", "evil.example"),
        ("/p", "http://seller.example.com/p", HOST),
        ("/p", None, HOST),
    ],
)
def test_handshake_is_rejected_when_it_was_not_signed(port, application, target, url, host):
    fields = signed("GET", url) if url else []
    with expect_rejection(), connect(port, target, fields, host) as socket:
        socket.recv(timeout=5)
    assert application.calls == 0


def test_handshake_is_rejected_as_a_replay(port, application):
    fields = signed("GET", f"{ORIGIN}/p")
    with connect(port, "/p", fields) as socket:
        socket.recv(timeout=5)
    with expect_rejection(), connect(port, "/p", fields) as socket:
        socket.recv(timeout=5)
    assert application.calls == 1

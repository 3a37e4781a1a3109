"""How an application is asked: as a server calls it, or over a socket on its framework's own server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from starlette._utils import get_route_path
from tests.attack.connection import Connection, Desync
from tests.drive import Message, call_asgi, call_wsgi, environ_of, scope_of

if TYPE_CHECKING:
    from tests.attack.applications import Site

Answer = tuple[int, bytes]
UPGRADE = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
)


def over_asgi(app: Any, message: Message, root_path: str, loop: asyncio.AbstractEventLoop) -> Answer:
    """Send a message to an ASGI application, as a WebSocket if it asks for one."""
    kind = "websocket" if dict(message.fields).get("Upgrade") and message.method == "GET" else "http"
    try:
        answer = loop.run_until_complete(
            asyncio.wait_for(call_asgi(app, scope_of(message, kind=kind, root_path=root_path), message.body), 20)
        )
    except Exception as error:  # noqa: BLE001 - a server answers 500
        return 500, type(error).__name__.encode()
    if kind == "websocket" and answer.sent:
        first = answer.sent[0]
        return (101 if first["type"] == "websocket.accept" else first.get("status", 403)), b""
    return answer.status, answer.content


def over_wsgi(app: Any, message: Message, dialect: str, mount: str) -> Answer:
    """Send a message to a WSGI application."""
    environ = environ_of(message, dialect, script_name=mount)
    if environ is None:
        return 400, b""
    try:
        answer = call_wsgi(app, environ)
    except Exception as error:  # noqa: BLE001 - a server answers 500
        return 500, type(error).__name__.encode()
    return answer.status, answer.content


class Socket:
    """A client of an application on its framework's own server. What it cannot read, it takes for a 400.

    It keeps its connection while the server does.
    """

    def __init__(self, port: int, site: Site) -> None:
        self._port, self._site = port, site
        self._connection: Connection | None = None

    def ask(self, message: Message) -> Answer:
        """Return the answer. After a handshake, wait until something runs or the server closes it."""
        lines = [f"{message.method} {message.target} HTTP/1.1", *(f"{name}: {value}" for name, value in message.lines)]
        octets = "\r\n".join([*lines, "", ""]).encode("latin-1") + message.body
        for _ in range(2):
            self._connection = self._connection or Connection(self._port, 20)
            self._connection.send(octets)
            try:
                answer = self._connection.response(message.method)
            except Desync:
                answer = None
            while answer is not None and answer.status == 101 and not self._site.has_run.is_set():
                if self._connection.rest(0.01) or self._connection.ended:
                    break
            if answer is None or answer.closes or "Upgrade" in dict(message.fields):
                self.close()
            if answer is not None:
                return answer.status, answer.content
        return 400, b""

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None


class Seen:
    """An application that keeps what it saw of the last request."""

    def __init__(self) -> None:
        self._last: dict[str, Any] | None = None

    async def asgi(self, scope: Any, receive: Any, send: Any) -> None:
        shown = ("type", "method", "path", "raw_path", "query_string", "root_path")
        kind, body = dict(scope["headers"]).get(b"content-type"), (await receive())["body"]
        self._last = {**{key: scope.get(key) for key in shown}, "kind": kind, "body": body}
        self._last["route path"] = get_route_path(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def wsgi(self, environ: Any, start_response: Any) -> list[bytes]:
        shown = ("REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "RAW_URI", "REQUEST_URI", "CONTENT_TYPE")
        self._last = {**{key: environ.get(key) for key in shown}, "body": environ["wsgi.input"].read()}
        start_response("200 OK", [])
        return []

    def told(self) -> dict[str, Any] | None:
        last, self._last = self._last, None
        return last

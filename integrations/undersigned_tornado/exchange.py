"""One Tornado request as an ASGI connection, and its way to the application."""

from __future__ import annotations

import asyncio
import logging
from http.client import responses
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from tornado.httputil import (
    HTTPHeaders,
    HTTPInputError,
    HTTPMessageDelegate,
    HTTPServerRequest,
    RequestStartLine,
    ResponseStartLine,
)

from undersigned.asgi import VERIFICATION

from .body import Body
from .requirement import VerifiedHeaders

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tornado.httputil import HTTPConnection, HTTPServerConnectionDelegate

    from undersigned.asgi import ASGIApp, Message, Receive, Scope, Send

CALL = "undersigned_tornado.call"

_logger = logging.getLogger("undersigned")


class Exchange(HTTPMessageDelegate):
    """One request: it is read from Tornado, verified in a task, and then passed to the application.

    Tornado waits for `headers_received` before it reads the body. It continues when the verification asks for the
    body or has ended.

    Args:
        verifying: verifies the request, and calls `forward` with what was verified.
        application: gets what was verified.
        server_conn: the connection.
        request_conn: the part of the connection that sends the response.
    """

    def __init__(
        self,
        verifying: ASGIApp,
        application: HTTPServerConnectionDelegate,
        server_conn: object,
        request_conn: HTTPConnection,
    ) -> None:
        self._verifying = verifying
        self._application = application
        self._server_conn = server_conn
        self._request_conn = request_conn
        self._start_line = RequestStartLine("", "", "")
        self._headers = HTTPHeaders()
        self._body = Body()
        self._may_continue: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._delegate: HTTPMessageDelegate | None = None

    # What Tornado calls

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        """Begin to verify the request."""
        self._start_line, self._headers = cast("RequestStartLine", start_line), headers
        self._task = asyncio.get_running_loop().create_task(self._verify())
        return self._may_continue

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        """Pass content to the application if the request was forwarded before it, else to the verification."""
        return self._body.feed(chunk) if self._delegate is None else self._delegate.data_received(chunk)

    def finish(self) -> None:
        """End the content."""
        self._ended.set()
        if self._delegate is None:
            self._body.end()
        else:
            self._delegate.finish()

    def on_connection_close(self) -> None:
        """End the request, because the client has gone."""
        self._ended.set()
        if self._delegate is None:
            self._body.disconnect()
        else:
            self._delegate.on_connection_close()

    # What the verification asks

    def request(self) -> HTTPServerRequest:
        """Return the request as it was received, for the application's own functions."""
        return HTTPServerRequest(
            connection=self._request_conn,
            server_connection=self._server_conn,
            start_line=self._start_line,
            headers=self._headers,
        )

    async def receive(self) -> Message:
        """Return the next content."""
        self._continue()
        return await self._body.receive()

    async def _send(self, message: Message) -> None:
        """Send a part of a response that rejects the request."""
        if message["type"] == "http.response.start":
            if "Content-Length" not in self._headers and "Transfer-Encoding" not in self._headers:
                # If the response comes before the end of the request, Tornado closes the connection.
                self._continue()
                await self._ended.wait()
            headers = HTTPHeaders()
            for name, value in message["headers"]:
                headers.add(name.decode("ascii"), value.decode("ascii"))
            start_line = ResponseStartLine("HTTP/1.1", message["status"], responses.get(message["status"], ""))
            self._request_conn.write_headers(start_line, headers)
        else:
            if message["body"]:
                self._request_conn.write(message["body"])
            self._request_conn.finish()

    async def forward(self, scope: Scope, receive: Receive) -> None:
        """Pass the verified request to the application."""
        query = scope["query_string"]
        target = (scope["raw_path"] + (b"?" + query if query else b"")).decode("ascii")
        headers = VerifiedHeaders()
        for name, value in scope["headers"]:
            headers.add(name.decode("latin-1"), value.decode("latin-1"))
        headers.verification = scope[VERIFICATION]
        delegate = self._application.start_request(self._server_conn, self._request_conn)
        start_line = RequestStartLine(self._start_line.method, target, self._start_line.version)
        await _wait(delegate.headers_received(start_line, headers))
        if receive == self.receive:
            # Nothing has read the content, so Tornado passes it to the application itself.
            self._delegate = delegate
            return
        message: Message = {"more_body": True}
        while message.get("more_body"):
            message = await receive()
            if message["type"] == "http.disconnect":
                delegate.on_connection_close()
                return
            if message.get("body"):
                await _wait(delegate.data_received(message["body"]))
        delegate.finish()

    async def _verify(self) -> None:
        """Verify the request and forward it. Answer 500 if the application's own functions fail."""
        target, _, query = self._start_line.path.encode("latin-1").partition(b"?")
        scope: dict[str, Any] = {
            "type": "http",
            "method": self._start_line.method,
            "http_version": self._start_line.version.removeprefix("HTTP/"),
            "path": unquote(target),
            "raw_path": target,
            "query_string": query,
            "headers": [(n.lower().encode("latin-1"), v.encode("latin-1")) for n, v in self._headers.get_all()],
            "client": _address(self._request_conn),
            CALL: self,
        }
        try:
            await self._verifying(scope, self.receive, self._send)
        except Exception as error:
            if isinstance(error, HTTPInputError) and not self._may_continue.done():
                # Tornado answers 400.
                self._may_continue.set_exception(error)
                return
            _logger.exception("verifying a request raised an exception")
            start = {"type": "http.response.start", "status": 500, "headers": [(b"content-length", b"0")]}
            await self._send(start)
            await self._send({"type": "http.response.body", "body": b""})
        finally:
            self._body.stop()
            self._continue()

    def _continue(self) -> None:
        if not self._may_continue.done():
            self._may_continue.set_result(None)


async def forward(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001 - ASGI's
    """Pass a verified request to the application."""
    call: Exchange = scope.pop(CALL)
    await call.forward(scope, receive)


async def _wait(waiting: Awaitable[None] | None) -> None:
    if waiting is not None:
        await waiting


def _address(connection: HTTPConnection) -> tuple[str, int] | None:
    """Return the address of the client, as Tornado knows it."""
    address: str | None = getattr(getattr(connection, "context", None), "remote_ip", None)
    return None if address is None else (address, 0)

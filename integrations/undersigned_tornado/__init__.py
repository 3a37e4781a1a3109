"""HTTP message signatures for Tornado: `Undersigned(app, ...)` verifies, and `signature_required` guards handlers."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from functools import wraps
from http.client import responses
from typing import TYPE_CHECKING, TypeVar, Unpack, cast

from undersigned import SignatureError
from undersigned.errors import needs_extra, renamed
from undersigned.eventloop import AsyncGuard, WireBody, WireReceived
from undersigned.middleware import ADMISSION, Admission, AsyncSetup, ErrorResponse, incomplete
from undersigned.policy import RouteResolver

with needs_extra("tornado"):
    from tornado.httputil import (
        HTTPConnection,
        HTTPHeaders,
        HTTPInputError,
        HTTPMessageDelegate,
        HTTPServerConnectionDelegate,
        HTTPServerRequest,
        RequestStartLine,
        ResponseStartLine,
    )

    from .routes import PUBLISHED, SignatureRequired, find_signature, routes_of, verified_signature, wait

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from tornado.web import RequestHandler

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

Method = TypeVar("Method", bound="Callable[..., object]")

_logger = logging.getLogger("undersigned")


def signature_required(method: Method) -> Method:
    """Let a method of a handler run only for a signed request. An unsigned one raises `SignatureRequired`.

    To guard a whole handler, decorate its `prepare`. A CORS preflight then passes to the method `options`, because no
    browser signs it.

    Args:
        method: the method, sync or async.

    Raises:
        ConfigurationError: `method` is not a function; or, during a request, no middleware has verified it.
    """
    guarded = PUBLISHED.guarded(method, decorate="the methods of a RequestHandler, not the class")
    if getattr(method, "__name__", "") != "prepare":
        return guarded

    @wraps(method)
    def prepare(handler: RequestHandler, *args: object, **kwargs: object) -> object:
        is_preflight = PUBLISHED.admission(handler.request).received.is_preflight
        return (method if is_preflight else guarded)(handler, *args, **kwargs)

    return cast("Method", prepare)


class Undersigned(HTTPServerConnectionDelegate):
    """What verifies: `HTTPServer(Undersigned(app, ...))`, around an application or a router.

    Tornado routes by what was verified: the canonical target and the headers. A body is read only after the
    signature over the headers has been verified, and reaches the handler only after it was verified too. A
    request that Tornado decompresses (`decompress_request=True`) does not verify if its body was compressed.

    A `RouteResolver` lists handlers by their class or by the name of their `URLSpec`. With it, every request must be
    signed unless `application` is a `tornado.web.Application` whose rules all lead to handlers. This is also true if a
    class of yours overrides how Tornado finds the handler.

    Args:
        application: the application, or a router.
        options: `verifier`, `origins` and the options of every middleware, as `undersigned.middleware.AsyncSetup` lists
            them. Their functions get the request. Tornado has a limit of its own besides `max_body`: `max_body_size`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self, application: HTTPServerConnectionDelegate, **options: Unpack[AsyncSetup[HTTPServerRequest]]
    ) -> None:
        self._application = application
        self._guard = AsyncGuard(app=routes_of(application), **options)
        self._guard.service.announce()

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """Return a delegate that reads one request, verifies it and passes it to the application."""
        return _Exchange(self._guard, self._application, server_conn, request_conn)


@dataclass(eq=False)
class _Exchange(HTTPMessageDelegate):
    """One request: it is read from Tornado, verified in a task, and then passed to the application.

    Tornado waits for `headers_received` before it reads the body. It continues when the verification asks for the
    body or has ended. It reads more of the body only after the last chunk has been asked for.
    """

    guard: AsyncGuard
    application: HTTPServerConnectionDelegate
    server_conn: object
    request_conn: HTTPConnection
    start_line: RequestStartLine = field(init=False)
    headers: HTTPHeaders = field(init=False)
    task: asyncio.Task[None] = field(init=False)
    delegate: HTTPMessageDelegate | None = None
    parts: asyncio.Queue[tuple[bytes, bool] | None] = field(default_factory=asyncio.Queue["tuple[bytes, bool] | None"])
    may_continue: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    # What Tornado calls

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        self.start_line, self.headers = cast("RequestStartLine", start_line), headers
        self.task = asyncio.get_running_loop().create_task(self._verify())
        return self.may_continue

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        if self.delegate is not None:
            return self.delegate.data_received(chunk)
        self.parts.put_nowait((chunk, True))
        # Until it has been received, or nobody wants it.
        return self.parts.join()

    def finish(self) -> None:
        self.ended.set()
        if self.delegate is None:
            self.parts.put_nowait((b"", False))
        else:
            self.delegate.finish()

    def on_connection_close(self) -> None:
        self.ended.set()
        if self.delegate is None:
            self.parts.put_nowait(None)
        else:
            self.delegate.on_connection_close()

    # What the verification asks

    async def _read(self) -> tuple[bytes, bool]:
        self._continue()
        part = await self.parts.get()
        self.parts.task_done()
        if part is None:
            raise incomplete()
        return part

    async def _answer(self, rejection: ErrorResponse) -> None:
        if "Content-Length" not in self.headers and "Transfer-Encoding" not in self.headers:
            # If the response comes before the end of the request, Tornado closes the connection.
            self._continue()
            await self.ended.wait()
        self._respond(rejection.status, rejection.fields, rejection.body)

    def _respond(self, status: int, fields: list[tuple[str, str]], content: bytes) -> None:
        start_line = ResponseStartLine("HTTP/1.1", status, responses.get(status, ""))
        self.request_conn.write_headers(start_line, _headers(fields))
        if content and self.start_line.method != "HEAD":
            self.request_conn.write(content)
        self.request_conn.finish()

    async def _forward(self, body: WireBody, admission: Admission) -> None:
        lines = list(self.headers.get_all())
        headers = _headers(admission.as_signed(lambda: lines) or lines)
        vars(headers)[ADMISSION] = admission
        connection = cast("HTTPConnection", _Answering(self.request_conn, admission))
        delegate = self.application.start_request(self.server_conn, connection)
        start_line = self.start_line if body.target is None else self.start_line._replace(path=body.target)
        await wait(delegate.headers_received(start_line, headers))
        if body.more is None:
            # Nothing has read the content, so Tornado passes it to the application itself.
            self.delegate = delegate
            return
        for chunk in body.chunks:
            await wait(delegate.data_received(chunk))
        more = body.more
        while more:
            try:
                chunk, more = await self._read()
            except SignatureError:
                delegate.on_connection_close()
                return
            if chunk:
                await wait(delegate.data_received(chunk))
        delegate.finish()

    async def _verify(self) -> None:
        """Verify the request and forward it. Answer 500 if the application's own functions fail."""
        start_line, headers = self.start_line, self.headers
        server_conn, request_conn = self.server_conn, self.request_conn
        received = WireReceived.of(
            start_line.method,
            start_line.version.removeprefix("HTTP/"),
            getattr(getattr(request_conn, "context", None), "remote_ip", None),
            context=lambda: HTTPServerRequest(
                connection=request_conn, server_connection=server_conn, start_line=start_line, headers=headers
            ),
            raw_target=start_line.path.encode("latin-1"),
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.get_all()],
        )
        body = WireBody(self.guard.service, received, self._read)
        try:
            result = await self.guard.verify(received, body)
            if isinstance(result, ErrorResponse):
                await self._answer(result)
            else:
                await self._forward(body, result)
        except Exception as error:
            if isinstance(error, HTTPInputError) and not self.may_continue.done():
                # Tornado answers 400.
                self.may_continue.set_exception(error)
                return
            _logger.exception("verifying a request raised an exception")
            self._respond(500, [("Content-Length", "0")], b"")
        finally:
            self._continue()
            while not self.parts.empty():
                self.parts.get_nowait()
                self.parts.task_done()

    def _continue(self) -> None:
        if not self.may_continue.done():
            self.may_continue.set_result(None)


@dataclass(eq=False)
class _Answering:
    """The connection of a verified request. It completes the response of a handler that rejects the request.

    Tornado's `send_error` removes all headers that an exception brings, so they are added here.
    """

    connection: HTTPConnection
    admission: Admission
    is_replaced: bool = False

    def __getattr__(self, name: str) -> object:
        return getattr(self.connection, name)

    def write_headers(
        self, start_line: ResponseStartLine, headers: HTTPHeaders, chunk: bytes | None = None
    ) -> Awaitable[None]:
        answer = self.admission.received.replacement(start_line.code)
        if answer is not None and self.admission.service.rejection is not None:
            self.is_replaced = True
            headers = _headers(answer.merged(headers.get_all()))
            chunk = b"" if self.admission.received.method == "HEAD" else answer.body
        elif answer is not None:
            headers.update(answer.headers)
        return self.connection.write_headers(start_line, headers, chunk)

    def write(self, chunk: bytes) -> Awaitable[None]:
        return self.connection.write(b"" if self.is_replaced else chunk)


def _headers(lines: Iterable[tuple[str, str]]) -> HTTPHeaders:
    headers = HTTPHeaders()
    for name, value in lines:
        headers.add(name, value)
    return headers


__getattr__ = renamed(__name__, "SignatureMiddleware", Undersigned)

"""A request in a server with an event loop, whose content comes in chunks: ASGI's, or that of a framework."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from undersigned.asgi.scope import (
    detected_server,
    request_target,
    server_root_path,
    shown_target,
    verified_scope,
)
from undersigned.limits import MOST_FIELDS
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request_target import RequestTarget, application_path
from undersigned.middleware.answer import UnreadRequest
from undersigned.middleware.authority import HTTP1_VERSIONS, unsupported_error
from undersigned.middleware.incoming import Incoming
from undersigned.middleware.requirement import VERIFICATION, Verification

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from undersigned.asgi.guard import AsyncGuard
    from undersigned.asgi.interface import Message, Receive, Scope, Send
    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.url import CanonicalURL, Origin

Answer = TypeVar("Answer")

_WITH_CONTENT = frozenset({"POST", "PUT", "PATCH"})
"""The methods for which content may come over HTTP/2 without Content-Length."""


class Disconnected(Exception):
    """Raised when the client disconnects before its body is complete. There is nobody to answer."""


class AsyncIncoming(Incoming):
    """A request whose content is read within a time. `read_chunk` raises `Disconnected` if the client has gone.

    Args:
        guard: the guard that verifies it.
        context: as in `Incoming`.
        method: as in `Incoming`.
        version: as in `Incoming`.
        client: as in `Incoming`.
    """

    def set_fields(self, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Take the header fields as octets, and what they say about content."""
        if len(headers) > MOST_FIELDS:
            self.has_too_many_fields = True
            return
        fields = self.fields = HeaderFields.of_octets(headers)
        combined = fields.combined
        self.names = combined if "_" in "".join(combined) else ()
        has_body: bool | None = "transfer-encoding" in combined
        if "content-length" in combined:
            has_body = has_body or combined["content-length"] != "0"
        elif self.version not in HTTP1_VERSIONS and self.method in _WITH_CONTENT:
            # HTTP/2 needs no Content-Length. For other methods nothing is read: uvicorn waits forever if no content
            # comes.
            has_body = None
        self.has_body = has_body

    async def read_content(self, digest: RunningDigest | None) -> Content:
        """Read the content, and feed it to `digest` while reading."""
        return await self._in_time(super().read_content, digest)

    async def read_unverified(self) -> Content | None:
        """Read the content if it begins as JSON, else only the beginning of it."""
        return await self._in_time(super().read_unverified)

    async def _in_time(self, read: Callable[..., Awaitable[Answer]], *arguments: object) -> Answer:
        """Return what is read within `body_timeout`."""
        # asyncio takes longer to import than this whole package, and WSGI never needs it.
        import asyncio  # noqa: PLC0415

        try:
            async with asyncio.timeout(self.guard.body_timeout):
                return await read(*arguments)
        except TimeoutError:
            raise UnreadRequest("request_timeout", "reading the body took longer than body_timeout") from None


class ScopeIncoming(AsyncIncoming):
    """One request over ASGI.

    Args:
        guard: the guard that verifies it.
        context: as in `Incoming`.
        scope: the scope.
        receive: returns the next event of the server.
        send: the function of the server, by which it may be recognised.
    """

    _verified: Scope | None = None

    def __init__(
        self, guard: AsyncGuard, context: object, scope: Scope, receive: Receive, send: Send | None = None
    ) -> None:
        client: tuple[str, int] | None = scope.get("client")
        address = client[0] if client else None
        super().__init__(guard, context, scope.get("method", "GET"), scope.get("http_version", "1.1"), address)
        outer = scope.get(VERIFICATION)
        self.outer = outer if isinstance(outer, Verification) else None
        self._adds_root_path = guard.server_adds_root_path
        self._scope = scope
        self._receive = receive
        self._send = send
        # A snapshot: a server may append trailers to its list after the application has started. Falcon's test client
        # gives pairs that can be read only once.
        self._headers = [(name, value) for name, value in islice(scope["headers"], MOST_FIELDS + 1)]
        self.set_fields(self._headers)

    def server(self) -> str | None:
        """Return the name of the server, if it can be recognised."""
        scope = self._scope
        if not (scope.get("root_path") or scope.get("app_root_path")) and self.version in HTTP1_VERSIONS:
            return None
        server = detected_server(self._receive, self._send)
        if server_root_path(scope) and (server == "daphne" or "daphne-root-path" in self.fields.combined):
            raise unsupported_error(
                self.guard.profile,
                "daphne takes root_path from any client's Daphne-Root-Path field, and it decides where the request is "
                "routed. Give it to the application, as FastAPI(root_path=...), and not to daphne",
            )
        return server

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target, and whether a lone `?` may be missing."""
        self.server()
        target = request_target(self._scope, self.guard.profile, server_adds_root_path=self._adds_root_path)
        return target, target.query is None

    def shown_target(self) -> str:
        """Return the request target as the server shows it."""
        return shown_target(self._scope)

    def routed_path(self) -> str:
        """Return the percent-decoded path as the application's router reads it."""
        return str(self._scope["path"])

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified."""
        self._verified = verified_scope(
            self._scope, self._headers, target=target, origin=origin, server_adds_root_path=self._adds_root_path
        )

    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come."""
        if self._scope["type"] == "websocket":
            return b"", False
        message = await self._receive()
        if message["type"] != "http.request":
            raise Disconnected
        return bytes(message.get("body", b"")), message.get("more_body", False)

    def forwarded(self, verification: Verification) -> tuple[Scope, Receive]:
        """Return the scope and the content that the application gets, with what is published."""
        scope, receive = self._scope, self._receive
        if scope["type"] == "http":
            if self.more is not None:
                receive = _replay(self.chunks, receive, more=self.more)
            elif self.is_closed:
                receive = _without_content(receive)
        # Not kept: the scope refers to this request, and a cycle would hold its content until it is collected.
        verified, self._verified = self._verified, None
        new = {**scope, "headers": self._headers} if verified is None else verified
        new["state"] = {**scope.get("state", {}), "signature": verification.signature}
        new[VERIFICATION] = verification
        return new, receive


def _replay(chunks: Sequence[bytes], receive: Receive, *, more: bool) -> Receive:
    """Return a `receive` that replays chunks as received, then yields what the server sends next.

    Args:
        chunks: the chunks.
        receive: returns the next event of the server.
        more: whether the content continues after the chunks.
    """
    # A list of messages would take many times the memory of many small chunks, so make one at a time.
    remaining = deque(chunks or (b"",))

    async def receive_again() -> Message:
        if not remaining:
            return await receive()
        chunk = remaining.popleft()
        return {"type": "http.request", "body": chunk, "more_body": more or bool(remaining)}

    return receive_again


def _without_content(receive: Receive) -> Receive:
    """Return a `receive` for a request verified without content. If content comes anyway, the request ends."""

    async def receive_without_content() -> Message:
        message = await receive()
        if message["type"] == "http.request" and message.get("body"):
            return {"type": "http.disconnect"}
        return message

    return receive_without_content


class WireIncoming(AsyncIncoming):
    """A request of a server that shows the target as it was on the wire, such as that of a framework.

    A subclass sets `raw_target`, and then calls `set_fields`.

    Attributes:
        raw_target: the request target.
        verified: the target that was verified: what the application gets. None: what the server has.
    """

    raw_target: bytes
    verified: str | None = None

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target."""
        return RequestTarget.parse(self.raw_target), False

    def shown_target(self) -> str:
        """Return the request target."""
        return self.raw_target.decode("latin-1")

    def routed_path(self) -> str:
        """Return the percent-decoded path."""
        return unquote(self.raw_target.partition(b"?")[0])

    @property
    def verified_path(self) -> str | None:
        """The path of `verified`, percent-decoded."""
        return None if self.verified is None else unquote(self.verified.partition("?")[0])

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified."""
        path = application_path(target, origin)
        self.verified = path if target.query is None else f"{path}?{target.query}"

"""A request over ASGI."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from undersigned.asgi.body import bodiless, replay
from undersigned.asgi.chunked import AsyncIncoming, Disconnected
from undersigned.asgi.scope import (
    check_root_path,
    detected_server,
    request_target,
    server_root_path,
    shown_target,
    verified_scope,
)
from undersigned.limits import MOST_FIELDS
from undersigned.message.content import Content
from undersigned.middleware.authority import HTTP1_VERSIONS

if TYPE_CHECKING:
    from undersigned.asgi.guard import AsyncGuard
    from undersigned.asgi.interface import Receive, Scope, Send
    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request_target import RequestTarget
    from undersigned.middleware.guard import Accepted
    from undersigned.url import CanonicalURL, Origin

VERIFICATION = "undersigned"
"""The scope's key for the `Verification`: everything that the middleware found out."""


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
        self.outer = scope.get(VERIFICATION)
        self._scope = scope
        self._receive = receive
        self._send = send
        # A snapshot: a server may append trailers to its list after the application has started.
        self._headers = [
            (name if type(name) is bytes else bytes(name), value if type(value) is bytes else bytes(value))
            for name, value in islice(scope["headers"], MOST_FIELDS + 1)
        ]
        self.set_fields(self._headers)

    def server(self) -> str | None:
        """Return the name of the server, if it can be recognised."""
        scope = self._scope
        if not (scope.get("root_path") or scope.get("app_root_path")) and self.version in HTTP1_VERSIONS:
            return None
        server = detected_server(self._receive, self._send)
        has_field = "daphne-root-path" in self.fields.combined
        check_root_path(server_root_path(scope), server, self.guard.profile, has_field=has_field)
        return server

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target, and whether a lone `?` may be missing."""
        self.server()
        target = request_target(self._scope, self.guard.profile, server_adds_root_path=self.guard.server_adds_root_path)
        return target, target.query is None

    def shown_target(self) -> str:
        """Return the request target as the server shows it."""
        return shown_target(self._scope)

    def routed_path(self) -> str:
        """Return the percent-decoded path as the application's router reads it."""
        return str(self._scope["path"])

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified."""
        adds = self.guard.server_adds_root_path
        self._verified = verified_scope(
            self._scope, self._headers, target=target, origin=origin, server_adds_root_path=adds
        )

    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come."""
        message = await self._receive()
        if message["type"] != "http.request":
            raise Disconnected
        return bytes(message.get("body", b"")), message.get("more_body", False)

    async def read_content(self, digest: RunningDigest | None) -> Content:
        """Read the content, and feed it to `digest` while reading."""
        return Content() if self._scope["type"] == "websocket" else await super().read_content(digest)

    async def read_unverified(self, most: int) -> Content | None:
        """Read the content if it begins as JSON."""
        return Content() if self._scope["type"] == "websocket" else await super().read_unverified(most)

    def forwarded(self, accepted: Accepted) -> tuple[Scope, Receive]:
        """Return the scope and the content that the application gets."""
        scope, receive = self._scope, self._receive
        if scope["type"] == "http":
            if accepted.content is not None:
                receive = replay(accepted.content.chunks, receive)
            elif accepted.is_closed:
                receive = bodiless(receive)
            elif self.more is not None:
                receive = replay(self.chunks, receive, more=self.more)
        # Not kept: the scope refers to this request, and a cycle would hold its content until it is collected.
        verified, self._verified = self._verified, None
        new = {**scope, "headers": self._headers} if verified is None else verified
        new["state"] = {**scope.get("state", {}), "signature": accepted.verification.signature}
        new[VERIFICATION] = accepted.verification
        return new, receive

"""A request over ASGI: what its scope shows, its body, and the scope that the application gets."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from undersigned.asgi.scope import detected_server, request_target, server_root_path, shown_target, verified_scope
from undersigned.eventloop import TimedBody
from undersigned.eventloop.received import read_head
from undersigned.limits import MOST_FIELDS, MOST_LENGTH_DIGITS
from undersigned.log_text import printable
from undersigned.message.content import USUALLY_WITH_CONTENT
from undersigned.middleware.admission import ADMISSION
from undersigned.middleware.error_response import incomplete
from undersigned.middleware.published import PUBLISHED
from undersigned.middleware.received import HTTP1_VERSIONS, Received, UnsupportedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undersigned.asgi.scope import Message, Receive, Scope, Send
    from undersigned.errors import SignatureError
    from undersigned.message.request_target import RequestTarget
    from undersigned.middleware.admission import Admission
    from undersigned.middleware.error_response import UnreadRequest
    from undersigned.middleware.options import Service
    from undersigned.url import CanonicalURL, Origin

_TAKEN: Final = "a layer outside the middleware has read the body before"
_OUTERMOST: Final = (
    "make SignatureMiddleware the outermost layer, or have the layer that reads the body hand it on; if nothing else "
    "reads it, raise body_timeout= to allow slower senders"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScopeReceived(Received):
    """What a server received and shows as a scope.

    Attributes:
        scope: the scope.
        headers: its headers. They are a snapshot: a server may append trailers to its list after the application
            has started. Falcon's test client gives pairs that can be read only once.
        server_adds_root_path: whether the server puts its root path in front of `raw_path`.
    """

    scope: Scope
    headers: list[tuple[bytes, bytes]]
    server_adds_root_path: bool

    @classmethod
    def of(
        cls,
        scope: Scope,
        receive: Receive,
        send: Send | None = None,
        *,
        context: Callable[[], object] | None = None,
        server_adds_root_path: bool = False,
    ) -> ScopeReceived:
        """Return what a scope shows. The server may be recognised by its `receive` and `send`.

        By default, the `context` of the request is the scope.
        """
        begun = time.perf_counter()
        client: tuple[str, int] | None = scope.get("client")
        method, version = scope.get("method", "GET"), scope.get("http_version", "1.1")
        headers = [(name, value) for name, value in islice(scope["headers"], MOST_FIELDS + 1)]
        is_http1 = version in HTTP1_VERSIONS
        # Neither a test client nor HTTP/2 need declare content. Over HTTP/2, uvicorn waits forever if none comes.
        may_be_unframed = scope["type"] == "http" and (is_http1 or method in USUALLY_WITH_CONTENT)
        fields, has_body = read_head(headers, unframed=None if may_be_unframed else False)
        is_plain = is_http1 and not (scope.get("root_path") or scope.get("app_root_path"))
        return cls(
            context=context or (lambda: scope),
            begun=begun,
            method=method,
            version=version,
            fields=fields,
            has_body=has_body,
            client=client[0] if client else None,
            # Nothing of a plain request depends on the server.
            server=None if is_plain else detected_server(receive, send),
            outer=scope.get(ADMISSION),
            is_handshake=scope["type"] == "websocket",
            is_closed_only=is_closed_only(scope),
            scope=scope,
            headers=headers,
            server_adds_root_path=server_adds_root_path,
        )

    def check_server(self) -> None:
        """Check that no client could choose the root path, by which the request was routed."""
        is_daphne = self.server == "daphne" or "daphne-root-path" in self.fields.combined
        if is_daphne and server_root_path(self.scope):
            raise UnsupportedServer(
                "daphne takes root_path from any client's Daphne-Root-Path header, and it decides where the request is "
                "routed. Give it to the application, as FastAPI(root_path=...), and not to daphne"
            )

    def advice(self, error: SignatureError) -> str:
        """Return what to do if the server puts its root path in front of `raw_path`, and nobody told the middleware."""
        root = server_root_path(self.scope)
        if not root or self.server_adds_root_path or error.reason not in {"signature_invalid", "target_uri_malformed"}:
            return ""
        return (
            f"the server has the root_path {printable(root)}: if it puts that in front of raw_path (uvicorn "
            f"--root-path), set server_adds_root_path=True, and if clients send it, write it into origins="
        )

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target, and whether a lone `?` may be missing."""
        target = request_target(self.scope, server_adds_root_path=self.server_adds_root_path)
        return target, target.query is None

    def shown_target(self) -> str:
        """Return the request target as the server shows it."""
        return shown_target(self.scope)

    def routed_path(self) -> str:
        """Return the percent-decoded path as the application's router reads it."""
        return str(self.scope["path"])


class ScopeBody(TimedBody):
    """The body of a `ScopeReceived`, which comes by the `receive` of the server."""

    _scope: Scope | None = None
    _size = 0

    def __init__(self, service: Service, received: ScopeReceived, receive: Receive) -> None:
        super().__init__(service, received)
        self._received = received
        self._receive = receive

    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come."""
        if self._received.is_handshake:
            return b"", False
        message = await self._receive()
        if message["type"] != "http.request":
            raise self._taken(incomplete())
        chunk, more = bytes(message.get("body", b"")), bool(message.get("more_body", False))
        self._size += len(chunk)
        declared = self._received.fields.combined.get("content-length", "")
        if not more and declared.isdecimal() and len(declared) <= MOST_LENGTH_DIGITS and self._size < int(declared):
            raise self._taken(incomplete("the body is shorter than Content-Length"))
        return chunk, more

    def _taken(self, error: UnreadRequest) -> UnreadRequest:
        """Add to an error that a layer outside may have read the body, if nothing has come."""
        if not self._size:
            error.detail, error.fix = f"{error.detail}, or {_TAKEN}", _OUTERMOST
        return error

    def too_slow(self) -> UnreadRequest:
        """Return the error for a body that did not come in time. uvicorn gives nothing more after another reader."""
        return self._taken(super().too_slow())

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Make the scope of the target that was verified."""
        received = self._received
        self._scope = verified_scope(
            received.scope,
            received.headers,
            target=target,
            origin=origin,
            server_adds_root_path=received.server_adds_root_path,
        )

    def forwarded(self, admission: Admission) -> Scope:
        """Return the scope that the application gets, with what is published."""
        outer = self._received.scope
        scope = self._scope or {**outer, "headers": self._received.headers}
        # Layers outside see what the application keeps there.
        scope["state"] = outer.setdefault("state", {})
        signed = admission.as_signed(
            lambda: ((name.decode("latin-1"), value.decode("latin-1")) for name, value in self._received.headers)
        )
        if signed is not None:
            scope["headers"] = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in signed]
        PUBLISHED.publish(scope, admission)
        return scope

    def rest(self) -> Receive:
        """Return a `receive` for the application: it replays what has been read, and continues with what comes."""
        if not self._received.is_handshake:
            if self.more is not None:
                return _replay(self.chunks, self._receive, more=self.more)
            if self.must_stay_empty:
                return _without_content(self._receive)
        return self._receive


def is_closed_only(scope: Scope) -> bool:
    """Return whether a scope is a WebSocket handshake that the server can only close, and not answer."""
    return scope["type"] == "websocket" and "websocket.http.response" not in (scope.get("extensions") or {})


def _replay(chunks: Sequence[bytes], receive: Receive, *, more: bool) -> Receive:
    """Return a `receive` that replays chunks as received, then yields what the server sends: `more` content or none."""
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

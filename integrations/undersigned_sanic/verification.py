"""The verification of Sanic's requests by their raw targets, before they are routed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote
from weakref import ref

from sanic import Sanic
from sanic.asgi import ASGIApp
from sanic.response import BaseHTTPResponse, HTTPResponse
from sanic.signals import Event

from undersigned import ConfigurationError, MalformedURL
from undersigned.eventloop import AsyncGuard, WireBody, WireReceived
from undersigned.middleware import ADMISSION, Admission, ErrorResponse
from undersigned.policy import HookedRoutes, MatchedRoute

from .requirement import PUBLISHED, Rejected, place

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from multidict import MultiDict
    from sanic import Request

    from undersigned.middleware import AsyncSetup, Service
    from undersigned.signature import Profile
    from undersigned.url import CanonicalURL, Origin

_FIRST = 1_000_000
_OTHER_TARGET = "the canonical target is not the target that Sanic routes"


class Undersigned:
    """An extension that verifies every request of an application on Sanic's own server, before the request is routed.

    A signed request gets 401 if its target is not canonical, such as `/a/../b`. Sanic would route another path than the
    one that was signed. Content that a signature covers has been read and verified before the handler runs. The handler
    reads it as any other content: a streaming handler from `request.stream`.

    Args:
        app: the application.
        options: `verifier`, `origins` and the options of every middleware, as `undersigned.middleware.AsyncSetup` lists
            them. Their functions get the request.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(self, app: Sanic[Any, Any], **options: Unpack[AsyncSetup[Request[Any, Any]]]) -> None:
        if not isinstance(app, Sanic):
            raise ConfigurationError("app: pass the Sanic application")
        self._guard = AsyncGuard(app=HookedRoutes(), **options)
        self._guard.service.announce()
        app.add_signal(self._verify, Event.HTTP_ROUTING_BEFORE)
        app.register_middleware(  # pyright: ignore[reportUnknownMemberType]
            _check_route, "request", priority=_FIRST
        )
        app.exception(Rejected)(_answer)  # pyright: ignore[reportUnknownMemberType]
        if self._guard.service.rejection is not None:
            app.register_middleware(cast("Any", _replace), "response")  # pyright: ignore[reportUnknownMemberType]

    async def _verify(self, request: Request[Any, Any], **_context: object) -> None:
        lines = list(cast("Iterable[tuple[str, str]]", request.headers.items()))
        received = _Received.of(
            request.method,
            request.version,
            request.ip or None,
            context=ref(request),
            raw_target=request.raw_url,
            headers=[(_octets(name), _octets(value)) for name, value in lines],
            routed=(_octets(request.path), _octets(request.query_string)),
        )
        body = _Body(self._guard.service, received, request.stream)
        result = await self._guard.verify(received, body)
        if isinstance(result, ErrorResponse):
            raise Rejected(result)
        if (signed := result.as_signed(lines)) is not None:
            request.headers = type(request.headers)(signed)
        body.rest()
        PUBLISHED.publish(request, result)


async def _check_route(request: Request[Any, Any]) -> None:
    """Apply the policy to the route that Sanic has found, and refuse a request that has not been verified before.

    When an application starts, Sanic removes from its classes the signals that this application does not use. Another
    application of the same process then has none of them.
    """
    route = request.route
    if route is None:
        return
    if ADMISSION not in place(request):
        raise ConfigurationError(
            "Sanic did not verify this request: set config.TOUCHUP = False for every application of this process"
        )
    names = (route.name, route.name.rpartition(".")[2])
    await PUBLISHED.check_route(request, MatchedRoute(route.handler, names, request.match_info, path=f"/{route.path}"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Received(WireReceived):
    """What Sanic received.

    Attributes:
        routed: the path and the query that Sanic routes.
    """

    routed: tuple[bytes, bytes]

    def routed_path(self, profile: Profile) -> str:
        """Return the percent-decoded path, which Sanic must route as it was received."""
        if not self.is_routed(self.raw_target):
            raise profile.error("target_uri_malformed", step=10, detail=f"request target: {_OTHER_TARGET}")
        return unquote(self.routed[0])

    def is_routed(self, target: bytes) -> bool:
        """Return whether Sanic routes a target."""
        path, _, query = target.partition(b"?")
        return (path, query) == self.routed


class _Body(WireBody):
    """The body of a request of Sanic."""

    def __init__(self, service: Service, received: _Received, stream: Any) -> None:
        super().__init__(service, received)
        self._received = received
        self._stream = stream

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified: Sanic routes its own."""
        super().accept(target, origin)
        if not self._received.is_routed((self.target or "").encode("ascii")):
            raise MalformedURL(_OTHER_TARGET, rule="request target")

    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come."""
        stream = self._stream
        # Sanic's stream has no body, or no more of it, if this is false.
        chunk: bytes | None = await stream.read() if stream.request_body else b""
        return chunk or b"", bool(stream.request_body)

    def rest(self) -> None:
        """Let Sanic read again what has been read, and then the rest of the content."""
        begun, stream = b"".join(self.chunks), self._stream
        if isinstance(stream, ASGIApp):
            self._rest_by_asgi(begun)
        elif begun:
            stream.recv_buffer[:0] = begun
            stream.request_bytes_left += len(begun)
            # It is None if the content has been read to its end.
            stream.request_body = stream.request_body or True

    def _rest_by_asgi(self, begun: bytes) -> None:
        """Do the same by the transport of an ASGI server, or of a test client."""
        stream = self._stream
        transport, more = stream.transport, bool(stream.request_body)
        stream.request_body = bool(begun) or (more and self._received.has_body)
        if begun:
            receive = transport.receive

            async def receive_again() -> dict[str, object]:
                transport.receive = receive
                return {"type": "http.request", "body": begun, "more_body": more}

            transport.receive = receive_again


async def _answer(_request: Request[Any, Any], rejected: Rejected) -> HTTPResponse:
    answer = rejected.answer
    return HTTPResponse(answer.body, answer.status, dict(answer.fields))


async def _replace(request: Request[Any, Any], response: BaseHTTPResponse) -> None:
    """Make a response the answer by `rejection=` if a route has rejected the request."""
    ctx: object = request.ctx
    published = vars(ctx).get(ADMISSION)
    answer = published.received.replacement(response.status) if isinstance(published, Admission) else None
    if answer is not None:
        response.body, response.content_type = answer.body, answer.content_type
        headers = cast("MultiDict[str]", response.headers)
        fields = answer.merged(list(headers.items()))
        headers.clear()
        headers.extend(fields)


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

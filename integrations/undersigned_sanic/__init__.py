"""HTTP message signatures for Sanic's own server: `Undersigned(app, ...)` verifies, `signature_required` guards.

Under another ASGI server, `undersigned.asgi.SignatureMiddleware` is what verifies.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast
from urllib.parse import unquote
from weakref import ref

from undersigned import ConfigurationError, MalformedURL, SignatureError
from undersigned.errors import needs_extra, renamed
from undersigned.eventloop import AsyncGuard, WireBody, WireReceived
from undersigned.middleware import AsyncSetup, ErrorResponse, Published
from undersigned.policy import ListedRoute, MatchedRoute, RouteResolver, Routes

with needs_extra("sanic"):
    from sanic import Blueprint, Request, Sanic
    from sanic.asgi import ASGIApp
    from sanic.exceptions import SanicException, Unauthorized
    from sanic.response import BaseHTTPResponse, HTTPResponse
    from sanic.signals import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from multidict import MultiDict

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

Handler = TypeVar("Handler", bound="Blueprint | Callable[..., object]")


class Rejected(SanicException):
    """Raised to answer a request that is rejected."""

    quiet = True

    def __init__(self, answer: ErrorResponse) -> None:
        super().__init__("the request is rejected", status_code=answer.status)
        self.answer = answer


class SignatureRequired(Unauthorized):
    """The 401 for an unsigned request, with the code as its message; `error` is the reason, for the log.

    Handlers of `Unauthorized` and `SanicException` get it. Without one, Sanic answers it as any other.
    """

    quiet = True

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.code, headers=answer.headers)  # pyright: ignore[reportUnknownMemberType]
        self.status_code, self.error = answer.status, error


PUBLISHED = Published[Request[Any, Any]](
    # Sanic has a scope on an ASGI server only.
    lambda request: cast("dict[str, Any]", request.scope if request.app.asgi else vars(request.ctx)),
    is_request=lambda argument: isinstance(argument, Request),
    error=lambda _request, error: SignatureRequired(error),
    route=lambda request: None if request.route is None else f"/{request.route.path}",
    advice="call Undersigned(app, ...) before the application is served, and set config.TOUCHUP = False for every "
    "application of a process that has several, or Sanic verifies nothing",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(handler: Handler) -> Handler:
    """Let a handler, or every handler of a blueprint, run only for a signed request.

    An unsigned one raises `SignatureRequired`. The guard of a blueprint lets CORS preflights pass, because no browser
    signs them. Sanic accepts a WebSocket handshake before its handler runs, so an unsigned one is accepted and then
    closed; in a blueprint that is guarded, it gets 401.

    Args:
        handler: the function of a request, sync or async, a method of an `HTTPMethodView`, or the blueprint. For the
            whole class, use `decorators = [signature_required]`.

    Raises:
        ConfigurationError: `handler` is neither; or, during a request, nothing has verified it.
    """
    if isinstance(handler, Blueprint):
        handler.on_request(_require_in_blueprint)  # pyright: ignore[reportUnknownMemberType]
        return cast("Handler", handler)
    return PUBLISHED.guarded(handler, decorate="a function or a blueprint; in a class, use decorators = [...]")


async def _require_in_blueprint(request: Request[Any, Any]) -> None:
    if not PUBLISHED.admission(request).received.is_preflight:
        verified_signature(request)


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
        self._guard = AsyncGuard(app=Routes(listed=partial(_listed, app), ask=lambda: True), **options)
        # `policy_table` asks the application for its middlewares.
        app.ctx.undersigned = self
        self._guard.service.announce()
        untyped: Any = app
        untyped.add_signal(self._verify, Event.HTTP_ROUTING_BEFORE)
        untyped.register_middleware(_check_route, "request", priority=1_000_000)
        untyped.exception(Rejected)(_answer)
        if self._guard.service.rejection is not None:
            untyped.register_middleware(_replace, "response")

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
        body = WireBody(
            self._guard.service,
            received,
            partial(_read, request.stream),
            routes=lambda target: received.is_routed(target.encode("ascii")),
        )
        result = await self._guard.verify(received, body)
        if isinstance(result, ErrorResponse):
            raise Rejected(result)
        if (signed := result.as_signed(lambda: lines)) is not None:
            request.headers = type(request.headers)(signed)
        _read_again(request.stream, b"".join(body.chunks), has_body=bool(received.has_body))
        PUBLISHED.publish(request, result)


async def _check_route(request: Request[Any, Any]) -> None:
    """Apply the policy to the route that Sanic has found, and refuse a request that has not been verified before.

    When an application starts, Sanic removes from its classes the signals that this application does not use. Another
    application of the same process then has none of them.
    """
    if (route := request.route) is not None:
        await PUBLISHED.check_route(request, _matched(route, request.match_info))


def _matched(route: Any, parameters: dict[str, Any]) -> MatchedRoute:
    # Sanic calls a handler of WebSockets by a function of its own.
    handler = route.handler.args[0] if route.extra.websocket else route.handler
    return MatchedRoute(handler, (route.name, route.name.rpartition(".")[2]), parameters, path=f"/{route.path}")


def _listed(app: Sanic[Any, Any]) -> Iterator[ListedRoute]:
    routes: Iterable[Any] = app.router.routes
    for route in routes:
        for method in ["WEBSOCKET"] if route.extra.websocket else sorted(route.methods):
            yield ListedRoute(method, f"/{route.path}", _matched(route, {}))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Received(WireReceived):
    """What Sanic received, with the path and the query that it routes."""

    routed: tuple[bytes, bytes]

    def routed_path(self) -> str:
        if not self.is_routed(self.raw_target):
            raise MalformedURL("the canonical target is not the target that Sanic routes", rule="request target")
        return unquote(self.routed[0])

    def is_routed(self, target: bytes) -> bool:
        path, _, query = target.partition(b"?")
        return (path, query) == self.routed


async def _read(stream: Any) -> tuple[bytes, bool]:
    # Sanic's stream has no body, or no more of it, if this is false.
    chunk: bytes | None = await stream.read() if stream.request_body else b""
    return chunk or b"", bool(stream.request_body)


def _read_again(stream: Any, begun: bytes, *, has_body: bool) -> None:
    """Let Sanic read again what has been read, and then the rest of the content."""
    if not isinstance(stream, ASGIApp):
        if begun:
            stream.recv_buffer[:0] = begun
            stream.request_bytes_left += len(begun)
            # It is None if the content has been read to its end.
            stream.request_body = stream.request_body or True
        return
    # An ASGI server, or a test client, has a transport.
    transport: Any = stream.transport
    receive, more = transport.receive, bool(stream.request_body)
    stream.request_body = bool(begun) or (more and has_body)

    async def receive_again() -> dict[str, object]:
        transport.receive = receive
        return {"type": "http.request", "body": begun, "more_body": more}

    if begun:
        transport.receive = receive_again


async def _answer(_request: Request[Any, Any], rejected: Rejected) -> HTTPResponse:
    answer = rejected.answer
    return HTTPResponse(answer.body, answer.status, dict(answer.fields))


async def _replace(request: Request[Any, Any], response: BaseHTTPResponse) -> None:
    """Make a response the answer by `rejection=` if a route has rejected the request."""
    answer = None
    # The guard has published nothing if it rejects.
    with suppress(ConfigurationError):
        answer = PUBLISHED.admission(request).received.replacement(response.status)
    if answer is not None:
        response.body, response.content_type = answer.body, answer.content_type
        headers = cast("MultiDict[str]", response.headers)
        fields = answer.merged(list(headers.items()))
        headers.clear()
        headers.extend(fields)


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


__getattr__ = renamed(__name__, "verify_signatures", Undersigned)

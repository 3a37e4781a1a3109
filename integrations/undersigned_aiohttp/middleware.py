"""The aiohttp middleware: it verifies a request by its raw target, before the handler sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from warnings import catch_warnings

from aiohttp import web
from yarl import URL

from undersigned import SignatureError, asgi
from undersigned.asgi import SignatureMiddleware
from undersigned.middleware import (
    DEFAULT_BODY_TIMEOUT,
    DEFAULT_MAX_BODY,
    DEFAULT_MAX_UNSIGNED_BODY,
    ErrorResponse,
    Verification,
)
from undersigned.policy import MatchedRoute, RouteResolver

from .requirement import VERIFICATION, response, route_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiohttp import StreamReader
    from aiohttp.typedefs import Handler, Middleware

    from undersigned import AsyncVerifier, Decision, Policy, Verifier
    from undersigned.asgi import Message, Receive, Scope, Send
    from undersigned.middleware import ConfiguredOrigins, Mode

_CALL = "undersigned_aiohttp.call"


def signature_middleware(
    *,
    verifier: Verifier | AsyncVerifier,
    origins: ConfiguredOrigins,
    mode: Mode = "required",
    max_body: int = DEFAULT_MAX_BODY,
    max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
    body_timeout: float = DEFAULT_BODY_TIMEOUT,
    policy: Policy | None = None,
    fallback: Callable[[web.Request], bool | Awaitable[bool]] | None = None,
    on_decision: Callable[[Decision], object] | None = None,
    rejection: Callable[[ErrorResponse, web.Request], ErrorResponse] | None = None,
) -> Middleware:
    """Return a middleware for `web.Application(middlewares=[...])`. Put it first.

    aiohttp routes a request before its middlewares run. If the canonical path of a signed request does not decode to
    the path that was routed, as with `/a/../b`, the request gets 401. aiohttp decompresses a compressed body, so its
    signature does not verify. To accept such a body, run the application with `auto_decompress=False`.

    Args:
        verifier: a `Verifier`, which is asked in a thread if its sources block, or an `AsyncVerifier`.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        mode: what happens to an unsigned request.
        max_body: the largest body that is read, in bytes. A larger one gets 413.
        max_unsigned_body: the largest body that is read for a policy if no valid signature covers it, in bytes. A
            request with a larger one must be signed.
        body_timeout: how many seconds reading a body may take. A slower one gets 408.
        policy: which operations must be signed. It replaces `mode`.
        fallback: tells whether another authenticator accepts the caller; a function of the request, sync or async. It
            is asked only if the policy would reject the request and another credential could change that.
        on_decision: gets a `Decision` for every request.
        rejection: shapes the answer to a rejected request: a function of the `ErrorResponse` and the request that
            returns another, for example of `ErrorResponse.with_content`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """
    verifying = SignatureMiddleware(
        _forward,
        verifier=verifier,
        origins=origins,
        mode=mode,
        max_body=max_body,
        max_unsigned_body=max_unsigned_body,
        body_timeout=body_timeout,
        policy=policy,
        fallback=_of_request(fallback) if callable(fallback) else fallback,
        on_decision=on_decision,
        rejection=_of_rejected(rejection) if callable(rejection) else rejection,
    )

    @web.middleware
    async def verify(request: web.Request, handler: Handler) -> web.StreamResponse:
        call = _Call(request, handler)
        await verifying(call.scope(), call.receive, call.send)
        return call.response()

    if policy is not None and isinstance(policy.resolver, RouteResolver):
        policy.resolver.hook(verify)
    return verify


class _Call:
    """One aiohttp request as an ASGI connection, and its response."""

    def __init__(self, request: web.Request, handler: Handler) -> None:
        self.request = request
        self._handler = handler
        self._target, _, self._query = request.raw_path.encode("utf-8", "surrogateescape").partition(b"?")
        self._path = unquote(self._target)
        self._sent: list[Message] = []
        self._is_forwarded = False
        self._response: web.StreamResponse | None = None

    def scope(self) -> dict[str, Any]:
        request = self.request
        return {
            "type": "http",
            "method": request.method,
            "http_version": f"{request.version.major}.{request.version.minor}",
            "path": self._path,
            "raw_path": self._target,
            "query_string": self._query,
            "headers": [(name.lower(), value) for name, value in request.raw_headers],
            "client": None if request.remote is None else (request.remote, 0),
            _CALL: self,
        }

    async def receive(self) -> Message:
        content = self.request.content
        if self._is_forwarded:
            # The rest of the content stays in the stream for the handler.
            return {"type": "http.request"}
        try:
            chunk = await content.readany()
        except (web.RequestPayloadError, ConnectionError):
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": not content.at_eof()}

    async def send(self, message: Message) -> None:
        self._sent.append(message)

    async def handle(self, scope: Scope, receive: Receive) -> None:
        """Call the handler with the verified request."""
        published: Verification = scope[asgi.VERIFICATION]
        profile = published.profile
        if scope["path"] != self._path:
            error = profile.error(
                "target_uri_malformed", step=10, detail="the canonical path is not the path that aiohttp routed"
            )
            published.reject(error, route=route_of(self.request))
            self._response = response(ErrorResponse.of(error))
            return
        query = scope["query_string"]
        target = scope["raw_path"] + (b"?" + query if query else b"")
        request = self.request.clone(rel_url=URL(target.decode("ascii"), encoded=True))
        if receive != self.receive:
            self._is_forwarded = True
            _put_back(self.request.content, await _begun(receive))
        route = _route(self.request)
        try:
            if route is not None:
                published = await published.check_route(route)
        except SignatureError as error:
            self._response = response(ErrorResponse.of(error))
            return
        request[VERIFICATION] = published
        self._response = await self._handler(request)

    def response(self) -> web.StreamResponse:
        if self._response is not None:
            return self._response
        if not self._sent:
            # The client has disconnected, or sent a body that cannot be read.
            return web.Response(status=400)
        start, body = self._sent
        fields = {name.decode("ascii"): value.decode("ascii") for name, value in start["headers"]}
        return web.Response(status=start["status"], body=body["body"], headers=fields)


def _route(request: web.Request) -> MatchedRoute | None:
    """Return the route that aiohttp has found, or None if it answers 404 or 405."""
    found = request.match_info
    if found.http_exception is not None:
        return None
    name = found.route.name
    return MatchedRoute(found.handler, () if name is None else (name,), dict(found), path=route_of(request))


async def _begun(receive: Receive) -> bytes:
    """Return the content that has been read."""
    chunks: list[bytes] = []
    message: Message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        chunks.append(message.get("body", b""))
    return b"".join(chunks)


def _put_back(content: StreamReader, octets: bytes) -> None:
    """Let the handler read octets again, and then the rest of the content."""
    # aiohttp has deprecated this method for years, and has no other way.
    with catch_warnings(action="ignore", category=DeprecationWarning):
        content.unread_data(octets)


async def _forward(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001 - ASGI's
    call: _Call = scope.pop(_CALL)
    await call.handle(scope, receive)


def _of_request(function: Callable[[web.Request], Any]) -> Callable[[Scope], Any]:
    return lambda scope: function(scope[_CALL].request)


def _of_rejected(
    function: Callable[[ErrorResponse, web.Request], ErrorResponse],
) -> Callable[[ErrorResponse, Scope], ErrorResponse]:
    return lambda response, scope: function(response, scope[_CALL].request)

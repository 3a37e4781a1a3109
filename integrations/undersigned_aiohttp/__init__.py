"""HTTP message signatures for aiohttp: `SignatureMiddleware` verifies, and `signature_required` guards handlers.

`SigningMiddleware` signs what a `ClientSession` sends.
"""

from __future__ import annotations

from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast
from urllib.parse import unquote
from warnings import catch_warnings
from weakref import ref

from undersigned.errors import needs_extra, renamed
from undersigned.eventloop import AsyncGuard, WireBody, WireReceived
from undersigned.middleware import Admission, AsyncSetup, ErrorResponse, Published, incomplete
from undersigned.policy import ListedRoute, MatchedRoute, RouteResolver, Routes, answers_itself

with needs_extra("aiohttp"):
    from aiohttp import web
    from aiohttp.hdrs import METH_ALL, METH_ANY
    from multidict import CIMultiDict, CIMultiDictProxy
    from yarl import URL

    from .client import SigningMiddleware

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from aiohttp import StreamReader
    from aiohttp.typedefs import Handler

    from undersigned import SignatureError

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "SigningMiddleware",
    "find_signature",
    "signature_required",
    "verified_signature",
]

Guarded = TypeVar("Guarded", bound="Callable[..., Awaitable[web.StreamResponse]]")


class SignatureRequired(web.HTTPUnauthorized):
    """The 401 for an unsigned request, with the code as its `reason`; `error` is the reason, for the log.

    Middlewares of the application that handle `web.HTTPException` get it.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(headers=answer.headers)
        self.body = answer.body
        self.headers["Content-Type"] = answer.content_type
        self.set_status(answer.status, answer.code)
        self.error = error


def route_of(request: web.Request) -> str | None:
    """Return the path of the route that aiohttp found, such as `/plans/{plan}`."""
    resource = request.match_info.route.resource
    return None if resource is None else resource.canonical


PUBLISHED = Published[web.Request](
    lambda request: vars(request)["_state"],  # aiohttp warns of a key that is a string
    is_request=lambda argument: isinstance(argument, web.Request),
    error=lambda _request, error: SignatureRequired(error),
    route=route_of,
    advice="pass web.Application(middlewares=[SignatureMiddleware(...)])",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(handler: Guarded) -> Guarded:
    """Let a handler run only for a signed request. An unsigned one raises `SignatureRequired`.

    Args:
        handler: the async function of a request, or a method of a `web.View` or of any other class.

    Raises:
        ConfigurationError: `handler` is not an async function; or, during a request, no middleware has verified it.
    """
    given = handler if iscoroutinefunction(handler) else None
    return cast("Guarded", PUBLISHED.guarded(given, decorate="an async function, or the methods of a web.View"))


@web.middleware
class SignatureMiddleware:
    """A middleware for `web.Application(middlewares=[SignatureMiddleware(...)])`. Put it first.

    aiohttp routes a request before its middlewares run. If the canonical path of a signed request does not decode to
    the path that was routed, as with `/a/../b`, the request gets 401. aiohttp decompresses a compressed body, so its
    signature does not verify. To accept such a body, run the application with `auto_decompress=False`.

    Args:
        options: `verifier`, `origins` and the options of every middleware, as `undersigned.middleware.AsyncSetup` lists
            them. Their functions get the request.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(self, **options: Unpack[AsyncSetup[web.Request]]) -> None:
        self._app: web.Application | None = None
        routes = Routes(listed=lambda: None if self._app is None else _listed(self._app), ask=lambda: True)
        self._guard = AsyncGuard(app=routes, **options)
        self._guard.service.announce()

    def learn(self, app: web.Application) -> None:
        """Learn the application, whose routes the policy is compared with. aiohttp tells it with each request."""
        self._app = app

    async def __call__(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Verify one request, then call the next middleware or the handler with the verified request."""
        self.learn(request.match_info.apps[0])
        received = WireReceived.of(
            request.method,
            f"{request.version.major}.{request.version.minor}",
            request.remote,
            context=ref(request),
            raw_target=_octets(request.raw_path),
            headers=request.raw_headers,
        )
        service = self._guard.service
        body = WireBody(
            service,
            received,
            partial(_read, request.content),
            routes=lambda target: unquote(target.partition("?")[0]) == received.routed_path(),
        )
        admission = await self._guard.verify(received, body)
        if isinstance(admission, ErrorResponse):
            return web.Response(status=admission.status, body=admission.body, headers=dict(admission.fields))
        PUBLISHED.publish(request, admission)
        try:
            try:
                route = _found(request)
                await PUBLISHED.check_route(request, route)
                if route is None:
                    handler = _replaced(handler, _check_again)
            except SignatureRequired as required:
                if service.rejection is not None:
                    raise
                handler = _replaced(handler, partial(_reject, required))
            if body.chunks:
                # aiohttp has deprecated this method for years, and has no other way.
                with catch_warnings(action="ignore", category=DeprecationWarning):
                    request.content.unread_data(b"".join(body.chunks))
            answer = await _handle(request, admission, body.target, handler)
        except web.HTTPException as raised:
            answer = raised
        shaped = None if service.rejection is None or answer.prepared else received.replacement(answer.status)
        if shaped is not None:
            headers = CIMultiDict(shaped.merged(answer.headers.items()))
            return web.Response(status=shaped.status, body=shaped.body, headers=headers)
        if isinstance(answer, web.HTTPException):
            raise answer
        return answer


def _replaced(handler: Any, replacement: Handler) -> Handler:
    """Return the middlewares that come next, around another handler than the one of the route."""
    # aiohttp binds each middleware to what it calls.
    if hasattr(getattr(handler, "func", None), "__middleware_version__"):
        return partial(handler.func, handler=_replaced(handler.keywords["handler"], replacement))
    return replacement


async def _reject(required: SignatureRequired, _request: web.Request) -> web.StreamResponse:
    raise required


async def _check_again(request: web.Request) -> web.StreamResponse:
    """Let aiohttp answer 404 or 405, unless a middleware has replaced the method of the request."""
    await PUBLISHED.check_route(request, _found(request))
    return await request.match_info.handler(request)


def _found(request: web.Request) -> MatchedRoute | None:
    found = request.match_info
    if found.http_exception is not None or _answers_405(found.handler, request.method):
        return None
    return MatchedRoute(found.handler, (found.route.name,), dict(found), path=route_of(request))


async def _handle(
    request: web.Request, admission: Admission, target: str | None, handler: Handler
) -> web.StreamResponse:
    """Call the handler with the request that was verified."""
    signed = admission.as_signed(lambda: ((_text(name), _text(value)) for name, value in request.raw_headers))
    if signed is None and target in {None, request.raw_path}:
        return await handler(request)
    verified = request.clone(rel_url=URL(target or request.raw_path, encoded=True))
    # Layers outside see what the handler puts there.
    vars(verified)["_state"] = vars(request)["_state"]
    if signed is not None:
        # `clone(headers=...)` fails for a value that is not UTF-8.
        raw = tuple((_octets(name), _octets(value)) for name, value in signed)
        held, headers = vars(verified), CIMultiDictProxy(CIMultiDict(signed))
        held["_headers"], held["_message"] = headers, held["_message"]._replace(headers=headers, raw_headers=raw)
    try:
        return await handler(verified)
    finally:
        # aiohttp closes the files of an upload.
        vars(request)["_post"] = vars(verified).get("_post")


async def _read(content: StreamReader) -> tuple[bytes, bool]:
    try:
        chunk = await content.readany()
    except (web.RequestPayloadError, ConnectionError):
        raise incomplete() from None
    return chunk, not content.at_eof()


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", "surrogateescape")


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _listed(app: web.Application) -> Iterator[ListedRoute]:
    """Yield what an application may run, as a policy is asked about it."""
    for route in app.router.routes():
        path = "" if route.resource is None else route.resource.canonical
        methods = sorted(METH_ALL) if isinstance(route.handler, type) and route.method == METH_ANY else [route.method]
        for method in methods:
            if not _answers_405(route.handler, method):
                yield ListedRoute(method, path, MatchedRoute(route.handler, (route.name,), path=path))


def _answers_405(handler: object, method: str) -> bool:
    return answers_itself(handler, web.View, {method.lower(), "_iter", "_raise_allowed_methods"}, {"aiohttp"})


__getattr__ = renamed(__name__, "signature_middleware", SignatureMiddleware)

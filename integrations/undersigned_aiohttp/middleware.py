"""The aiohttp middleware: it verifies a request by its raw target, before the handler sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from warnings import catch_warnings

from aiohttp import web
from yarl import URL

from undersigned import MalformedURL, SignatureError
from undersigned.asgi import AsyncGuard, Disconnected, WireIncoming
from undersigned.middleware import ErrorResponse, shaped
from undersigned.policy import MatchedRoute, RouteResolver

from .requirement import VERIFICATION, response, route_of

if TYPE_CHECKING:
    from typing import Unpack

    from aiohttp.typedefs import Handler, Middleware

    from undersigned import AsyncVerifier, Verifier
    from undersigned.middleware import AsyncOptions, ConfiguredOrigins
    from undersigned.url import CanonicalURL, Origin


def signature_middleware(
    *,
    verifier: Verifier | AsyncVerifier,
    origins: ConfiguredOrigins,
    **options: Unpack[AsyncOptions[web.Request]],
) -> Middleware:
    """Return a middleware for `web.Application(middlewares=[...])`. Put it first.

    aiohttp routes a request before its middlewares run. If the canonical path of a signed request does not decode to
    the path that was routed, as with `/a/../b`, the request gets 401. aiohttp decompresses a compressed body, so its
    signature does not verify. To accept such a body, run the application with `auto_decompress=False`.

    Args:
        verifier: a `Verifier`, which is asked in a thread if its sources block, or an `AsyncVerifier`.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        options: the options of every middleware, as `undersigned.middleware.AsyncOptions` lists them: `mode`, `policy`
            and so on. Their functions get the request.

    Raises:
        ConfigurationError: an option has a wrong value.
    """
    verifying = AsyncGuard(verifier=verifier, origins=origins, **options)
    verifying.announce()

    @web.middleware
    async def verify(request: web.Request, handler: Handler) -> web.StreamResponse:
        incoming = _RequestIncoming(verifying, request)
        try:
            published = await verifying.verify(incoming)
        except Disconnected:
            # The client has disconnected, or sent a body that cannot be read.
            return web.Response(status=400)
        if isinstance(published, ErrorResponse):
            return response(published)
        route = _route(request)
        try:
            if route is not None:
                published = await published.check_route(route)
        except SignatureError as error:
            return response(shaped(ErrorResponse.of(error), options.get("rejection"), request))
        incoming.put_back()
        # Not kept: the request refers to its verification, and a cycle would hold both until it is collected.
        incoming.context = None
        if incoming.verified is not None:
            request = request.clone(rel_url=URL(incoming.verified, encoded=True))
        request[VERIFICATION] = published
        return await handler(request)

    policy = options.get("policy")
    if policy is not None and isinstance(policy.resolver, RouteResolver):
        policy.resolver.hook(verify)
    return verify


class _RequestIncoming(WireIncoming):
    """One request of aiohttp."""

    def __init__(self, guard: AsyncGuard, request: web.Request) -> None:
        version = f"{request.version.major}.{request.version.minor}"
        super().__init__(guard, request, request.method, version, request.remote)
        self.raw_target = request.raw_path.encode("utf-8", "surrogateescape")
        self.set_fields(request.raw_headers)
        self._content = request.content

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified: aiohttp has routed the request already."""
        super().accept(target, origin)
        if self.verified_path != self.routed_path():
            raise MalformedURL("the canonical path is not the path that aiohttp routed", rule="request target")

    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come."""
        try:
            chunk = await self._content.readany()
        except (web.RequestPayloadError, ConnectionError):
            raise Disconnected from None
        return chunk, not self._content.at_eof()

    def put_back(self) -> None:
        """Let the handler read again what has been read, and then the rest of the content."""
        begun = b"".join(self.chunks)
        if begun:
            # aiohttp has deprecated this method for years, and has no other way.
            with catch_warnings(action="ignore", category=DeprecationWarning):
                self._content.unread_data(begun)


def _route(request: web.Request) -> MatchedRoute | None:
    """Return the route that aiohttp has found, or None if it answers 404 or 405."""
    found = request.match_info
    if found.http_exception is not None:
        return None
    name = found.route.name
    return MatchedRoute(found.handler, () if name is None else (name,), dict(found), path=route_of(request))

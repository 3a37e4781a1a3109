"""The Litestar middleware: it verifies a request before Litestar routes it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from litestar import Litestar

from undersigned import ConfigurationError, asgi
from undersigned.policy import HookedRoutes, ListedRoute, MatchedRoute, RouteResolver

from .requirement import PUBLISHED, scope_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Unpack

    from litestar.connection import ASGIConnection
    from litestar.handlers import BaseRouteHandler

    from undersigned.asgi import Receive, Scope, Send
    from undersigned.middleware import ASGISetup


class SignatureMiddleware:
    """A middleware for `SignatureMiddleware(app, ...)`, around everything that Litestar does with a request.

    Litestar runs its own middlewares after it has routed a request. This one is put around its router instead, so
    the application stays a `Litestar`: serve the application or this object, which are the same to a server.

    Args:
        app: the application. With a `RouteResolver`, each handler asks the policy before its guards run.
        options: those of `undersigned.asgi.SignatureMiddleware`: `verifier`, `origins`, `mode` and so on.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(self, app: Litestar, **options: Unpack[ASGISetup]) -> None:
        if not isinstance(app, Litestar):
            raise ConfigurationError("app: pass the Litestar application, not what is wrapped around it")
        policy = options.get("policy")
        if policy is not None and isinstance(policy.resolver, RouteResolver):
            _guard_handlers(app)
        guarded = asgi.SignatureMiddleware(
            HookedRoutes(cast("Any", app.asgi_handler), partial(_listed, app)), **options
        )
        app.asgi_handler = cast("Any", guarded)
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application, which verifies one request or handshake first."""
        await self.app(cast("Any", scope), cast("Any", receive), cast("Any", send))


_ANY = {"websocket": "WEBSOCKET", "asgi": "*"}


def _listed(app: Litestar) -> Iterator[ListedRoute]:
    for route in app.routes:
        for handler in _handlers(route):
            for method in sorted(getattr(handler, "http_methods", None) or [_ANY[route.scope_type.value]]):
                yield ListedRoute(method, route.path_format, _matched(handler, {}, route.path_format))


def _guard_handlers(app: Litestar) -> None:
    """Let every handler ask the policy first, also one that is registered later."""
    handlers = [handler for route in app.routes for handler in _handlers(route)]
    guards: list[list[Any]] = [cast("Any", app).guards, *(handler.resolve_guards() for handler in handlers)]
    for chosen in guards:
        if _ask not in chosen:
            chosen.insert(0, _ask)


async def _ask(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Apply the policy to a handler: the guard that is the first of each."""
    path = scope_of(connection).get("path_template")
    await PUBLISHED.check_route(connection, _matched(handler, connection.path_params, path))


def _matched(handler: BaseRouteHandler, parameters: Mapping[str, object], path: str | None) -> MatchedRoute:
    is_mount = bool(getattr(handler, "is_mount", False))
    return MatchedRoute(handler.fn, (handler.name or "",), parameters, is_opaque=is_mount, path=path)


def _handlers(route: Any) -> list[Any]:
    return list(getattr(route, "route_handlers", None) or [route.route_handler])

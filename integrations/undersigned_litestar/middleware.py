"""The Litestar middleware: it verifies a request before Litestar routes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from litestar import Litestar

from undersigned import ConfigurationError, asgi
from undersigned.policy import HookedRoutes, MatchedRoute, RouteResolver

from .requirement import PUBLISHED, scope_of

if TYPE_CHECKING:
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
        guarded = asgi.SignatureMiddleware(HookedRoutes(cast("Any", app.asgi_handler)), **options)
        app.asgi_handler = cast("Any", guarded)
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application, which verifies one request or handshake first."""
        await self.app(cast("Any", scope), cast("Any", receive), cast("Any", send))


def _guard_handlers(app: Litestar) -> None:
    """Let every handler ask the policy first, also one that is registered later."""
    routes: list[Any] = app.routes
    handlers = [one for route in routes for one in getattr(route, "route_handlers", None) or [route.route_handler]]
    guards: list[list[Any]] = [cast("Any", app).guards, *(handler.resolve_guards() for handler in handlers)]
    for chosen in guards:
        if _ask not in chosen:
            chosen.insert(0, _ask)


async def _ask(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Apply the policy to a handler: the guard that is the first of each."""
    names, is_mount = (handler.name or "",), bool(getattr(handler, "is_mount", False))
    path = scope_of(connection).get("path_template")
    route = MatchedRoute(handler.fn, names, connection.path_params, is_opaque=is_mount, path=path)
    await PUBLISHED.check_route(connection, route)

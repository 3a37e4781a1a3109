"""The operation of a request by the route that Starlette's router finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Host, Match, Mount, Route, Router, WebSocketRoute

from undersigned import ConfigurationError
from undersigned.policy import MatchedRoute
from undersigned.policy import RouteResolver as _RouteResolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from undersigned.policy import RouteOperation


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the endpoint that the application's router runs.

    It follows mounts, hosts and sub-applications of Starlette. Any other mounted application must be listed in
    `operations`, by itself or by the name of its mount, or its requests must be signed. Between SignatureMiddleware and
    the router, no middleware may change the path.

    Args:
        app: the application, or its router.
        operations: as in `undersigned.policy.RouteResolver`.

    Raises:
        ConfigurationError: an argument has a wrong value.
    """

    __slots__ = ("_app",)

    def __init__(self, app: Starlette | Router, operations: Mapping[object, RouteOperation] | None = None) -> None:
        super().__init__(operations)
        if not isinstance(app, (Starlette, Router)):
            raise ConfigurationError("app: pass the Starlette application or its router, not what is wrapped around it")
        self._app = app

    def find(self, dispatched: Mapping[str, object]) -> MatchedRoute | None:
        """Return the route for a scope; as `undersigned.policy.RouteResolver.find`."""
        return self._found(self._app, dict(dispatched))

    def candidates(self, routes: Sequence[BaseRoute]) -> Iterable[tuple[BaseRoute, BaseRoute]]:
        """Return each route as it was declared, with the route that matches in its place."""
        return zip(routes, routes, strict=True)

    def _found(self, app: Starlette | Router, scope: dict[str, Any]) -> MatchedRoute | None:
        if getattr(app, "root_path", ""):
            # FastAPI's root path replaces the server's.
            scope["root_path"] = cast("Any", app).root_path
        router = app if isinstance(app, Router) else app.router
        partial: BaseRoute | None = None
        for declared, route in self.candidates(router.routes):
            match, child = route.matches(scope)
            if match is Match.FULL:
                return self._followed(declared, route, {**scope, **child})
            if match is Match.PARTIAL and partial is None:
                partial = declared
        if partial is not None:
            # A route answers 405.
            return None if isinstance(partial, Route) else MatchedRoute(partial, is_opaque=True)
        # A redirect, or 404.
        return None if router.default == router.not_found else MatchedRoute(router.default, is_opaque=True)

    def _followed(self, declared: BaseRoute, route: Any, scope: dict[str, Any]) -> MatchedRoute | None:
        """Return the route that runs after `route` has matched."""
        if isinstance(declared, (Route, WebSocketRoute)):
            return MatchedRoute(scope["endpoint"], (route.name,), scope["path_params"])
        if not isinstance(declared, (Mount, Host)):
            return MatchedRoute(declared, is_opaque=True)
        # A mount may have middlewares around its application.
        inner = getattr(route, "_base_app", route.app)
        if isinstance(inner, (Starlette, Router)):
            return self._found(inner, scope)
        return MatchedRoute(inner, (route.name,) if route.name else (), scope["path_params"], is_opaque=True)

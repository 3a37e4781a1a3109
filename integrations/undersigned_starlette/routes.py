"""The operation of a request by the route that Starlette's router finds."""

from __future__ import annotations

from functools import partial
from inspect import isclass, isroutine
from typing import TYPE_CHECKING, Any, cast

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Host, Match, Mount, Route, Router, WebSocketRoute

from undersigned import ConfigurationError
from undersigned.policy import MatchedRoute
from undersigned.policy import RouteResolver as _RouteResolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from undersigned.policy import RouteOperation


_FRAMEWORKS = frozenset({"starlette", "fastapi"})


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the endpoint that the application's router runs.

    It follows mounts, hosts and sub-applications of Starlette. Any other mounted application must be listed in
    `operations`, by itself or by the name of its mount, or its requests must be signed. This is also true for an
    endpoint that is neither a function nor a class, and for a route or mount whose class overrides `handle`. It is also
    true for a mounted application or router whose class overrides `__call__`, and for what no route matches if the
    class of the router overrides `not_found`. Between SignatureMiddleware and the router, no middleware may change the
    path or the method.

    Args:
        app: the application, or its router.
        operations: as in `undersigned.policy.RouteResolver`.

    Raises:
        ConfigurationError: an argument has a wrong value, or the class of `app` or of its router overrides `__call__`.
    """

    __slots__ = ("_app",)

    def __init__(self, app: Starlette | Router, operations: Mapping[object, RouteOperation] | None = None) -> None:
        super().__init__(operations)
        if not isinstance(app, (Starlette, Router)):
            raise ConfigurationError("app: pass the Starlette application or its router, not what is wrapped around it")
        for asked in (app, getattr(app, "router", app)):
            if _decides_itself(asked):
                raise ConfigurationError(
                    f"app: {type(asked).__name__} decides by itself what runs, whatever its routes are: remove its "
                    "__call__ or app method, or use PathResolver"
                )
        self._app = app

    def find(self, dispatched: Mapping[str, object]) -> MatchedRoute | None:
        """Return the route for a scope; as `undersigned.policy.RouteResolver.find`."""
        return self._find_in(self._app, dict(dispatched))

    def routes(self) -> Iterable[MatchedRoute]:
        """Return every route of the application; as `undersigned.policy.RouteResolver.routes`."""
        return self._routes(self._app)

    def candidates(self, routes: Sequence[BaseRoute]) -> Iterable[tuple[BaseRoute, BaseRoute]]:
        """Return each route as it was declared, with the route that matches in its place."""
        return zip(routes, routes, strict=True)

    def _routes(self, app: Starlette | Router) -> Iterator[MatchedRoute]:
        router = app if isinstance(app, Router) else app.router
        for declared, route in self.candidates(router.routes):
            inner = _followed_application(declared, route) if isinstance(declared, (Mount, Host)) else None
            if inner is not None:
                yield from self._routes(inner)
            elif isinstance(declared, (Route, WebSocketRoute)):
                endpoint = cast("Any", route).endpoint
                yield MatchedRoute(endpoint, (cast("Any", route).name,), is_opaque=_is_application(endpoint))
            else:
                yield MatchedRoute(declared, is_opaque=True)

    def _find_in(self, app: Starlette | Router, scope: dict[str, Any]) -> MatchedRoute | None:
        if getattr(app, "root_path", ""):
            # FastAPI's root path replaces the server's.
            scope["root_path"] = cast("Any", app).root_path
        router = app if isinstance(app, Router) else app.router
        partly: BaseRoute | None = None
        for declared, route in self.candidates(router.routes):
            match, child = route.matches(scope)
            if match is Match.FULL:
                return self._follow(declared, route, {**scope, **child})
            if match is Match.PARTIAL and partly is None:
                partly = declared
        if partly is not None:
            # A route answers 405.
            is_known = isinstance(partly, Route) and not _overrides(partly, "handle")
            return None if is_known else MatchedRoute(partly, is_opaque=True)
        # A redirect, or 404.
        is_known = router.default == router.not_found and not _overrides(router, "not_found")
        return None if is_known else MatchedRoute(router.default, is_opaque=True)

    def _follow(self, declared: BaseRoute, route: Any, scope: dict[str, Any]) -> MatchedRoute | None:
        """Return the route that runs after `route` has matched."""
        if isinstance(declared, (Route, WebSocketRoute)):
            endpoint = scope["endpoint"]
            is_opaque = _is_application(endpoint) or _overrides(declared, "handle")
            path = getattr(route, "path", None)
            return MatchedRoute(endpoint, (route.name,), scope["path_params"], is_opaque=is_opaque, path=path)
        if not isinstance(declared, (Mount, Host)):
            return MatchedRoute(declared, is_opaque=True)
        inner = _followed_application(declared, route)
        if inner is not None:
            return self._find_in(inner, scope)
        return MatchedRoute(
            _mounted_application(route), (route.name,) if route.name else (), scope["path_params"], is_opaque=True
        )


def _mounted_application(route: Any) -> object:
    """Return the application of a mount, without the middlewares that the mount may have around it."""
    return getattr(route, "_base_app", route.app)


def _followed_application(declared: BaseRoute, route: object) -> Starlette | Router | None:
    """Return the application of a mount if its routes tell what runs."""
    inner = _mounted_application(route)
    if _overrides(declared, "handle") or not isinstance(inner, (Starlette, Router)):
        return None
    return None if _decides_itself(inner) or _decides_itself(getattr(inner, "router", inner)) else inner


def _decides_itself(app: Starlette | Router) -> bool:
    """Return whether an application or router is of a class that may run something without asking its routes."""
    return _overrides(app, "__call__", "app") if isinstance(app, Router) else _overrides(app, "__call__")


def _overrides(given: object, *methods: str) -> bool:
    """Return whether a class outside of the frameworks defines one of the methods."""
    own = [cls for cls in type(given).__mro__ if cls.__module__.partition(".")[0] not in _FRAMEWORKS]
    return any(method in vars(cls) for cls in own for method in methods)


def _is_application(endpoint: object) -> bool:
    """Return whether an endpoint is an object, which Starlette runs as an ASGI application that may route by itself."""
    while isinstance(endpoint, partial):
        endpoint = cast("partial[object]", endpoint).func
    return not (isroutine(endpoint) or isclass(endpoint))

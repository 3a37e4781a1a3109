"""What Starlette's endpoints ask: the signature of their request, and the policy by route."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from inspect import isclass, isroutine
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.exceptions import HTTPException, WebSocketException
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Host, Match, Mount, Route, Router, WebSocketRoute
from starlette.staticfiles import StaticFiles

from undersigned import ConfigurationError, SignatureError
from undersigned.asgi import check_route, is_application, is_closed_only
from undersigned.middleware import ErrorResponse, Published
from undersigned.policy import ListedRoute, MatchedRoute, Routes, answers_itself, called_applications, own_names
from undersigned.policy import RouteResolver as _RouteResolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from undersigned.asgi import Receive, Scope, Send

Candidates: TypeAlias = "Callable[[Sequence[BaseRoute]], Iterable[tuple[BaseRoute, BaseRoute]]]"
"""Returns each route of a router as it was declared, with the route that matches in its place."""

_FILES = "static_files"
_FRAMEWORKS = frozenset({"starlette", "fastapi"})


class SignatureRequired(HTTPException):
    """The 401 for an unsigned request, with the code as its `detail`; `error` is the reason, for the log.

    Handlers of `HTTPException` and of the status 401 get it. Without one, Starlette and FastAPI answer it as any other
    `HTTPException`. Its `headers` have WWW-Authenticate and Accept-Signature, if the profile sends them.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.status, answer.code, answer.headers)
        self.error = error


def rejection(scope: Scope, error: SignatureError) -> SignatureRequired | WebSocketException:
    """Return the exception that rejects a request, or that closes a handshake which the server cannot answer."""
    if is_closed_only(scope):
        return WebSocketException(1008, error.code)
    return SignatureRequired(error)


PUBLISHED = Published[HTTPConnection](
    lambda connection: connection.scope,
    is_request=lambda argument: isinstance(argument, HTTPConnection),
    error=lambda connection, error: rejection(connection.scope, error),
    route=lambda connection: getattr(connection.scope.get("route"), "path", None),
    advice="put SignatureMiddleware outside the application, with verifier= and origins=",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


class RouteResolver(_RouteResolver):
    """As `undersigned.policy.RouteResolver`: the operation is the endpoint that Starlette is about to run.

    The router of the application, and those of the applications that it mounts, ask the policy about the route that
    they have matched, before any of it runs. `StaticFiles` have the name of their mount, or else `static_files`. Any
    other mounted application must be listed in `operations`, by itself or by the name of its mount, or its requests
    must be signed. This is also true for an endpoint that is neither a function nor a class, and for a route or mount
    whose class overrides `handle`. It is also true for a mounted application or router whose class overrides
    `__call__`, and for what no route matches if the class of the router overrides `not_found`.

    The middleware of a policy finds the application that it is around, also through other middlewares, or the router
    that it leads to. If a middleware between them may call several applications, every request must be signed.
    """

    __slots__ = ()

    def routes_of(self, app: object) -> Routes:
        """Return the routes of an application; as `undersigned.policy.RouteResolver.routes_of`.

        Raises:
            ConfigurationError: the class of the application or of its router overrides `__call__`, or the router has a
                middleware whose application is not its `app`.
        """
        _ask(app, self.candidates)
        return Routes(ask=partial(_ask, app, self.candidates), listed=partial(_list, app, self.candidates))

    @staticmethod
    def candidates(routes: Sequence[BaseRoute]) -> Iterable[tuple[BaseRoute, BaseRoute]]:
        """Return each route as it was declared, with the route that matches in its place."""
        return zip(routes, routes, strict=True)


def _ask(app: object, candidates: Candidates) -> bool:
    found = _found(app)
    if found is None:
        return False
    if (deciding := _deciding(found)) is not None:
        raise ConfigurationError(
            f"policy: {type(deciding).__name__} decides by itself what runs, whatever its routes are: remove its "
            "__call__ or app method, or use PathResolver"
        )
    if not _hook(_router(found), candidates):
        raise ConfigurationError("policy: a middleware of the router has no app attribute: add it to the application")
    return True


def _list(app: object, candidates: Candidates) -> Iterable[ListedRoute] | None:
    found = _found(app)
    return None if found is None else _listed(_router(found), candidates, "")


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def _listed(router: Router, candidates: Candidates, prefix: str) -> Iterator[ListedRoute]:
    """Yield what a router and those that it mounts may run, as they ask about it."""
    for declared, route in candidates(router.routes):
        path = f"{prefix}{getattr(route, 'path', getattr(route, 'host', '/*'))}"
        endpoint = getattr(route, "endpoint", None)
        methods = getattr(route, "methods", None) or (_METHODS if isclass(endpoint) else ["*"])
        methods = ["*"] if overrides(declared, "handle") else methods
        for method in ["WEBSOCKET"] if isinstance(declared, WebSocketRoute) else sorted(methods):
            scope: dict[str, Any] = {"method": method, "endpoint": endpoint, "path_params": {}}
            matched = _about_to_run(declared, route, scope, candidates)
            if matched is not None:
                yield ListedRoute(
                    method, path if isinstance(declared, (Route, WebSocketRoute)) else f"{path}/*", matched
                )
            elif isinstance(declared, (Mount, Host)):
                yield from _listed(_router(_base(route)), candidates, path)
    if getattr(router, "_low_priority_routes", None):
        yield ListedRoute("GET", f"{prefix}/*", MatchedRoute(None, (_FILES,)))
    if (unmatched := _unmatched(router)) is not None:
        yield ListedRoute("*", f"{prefix}/*", unmatched)


def _found(app: object) -> Starlette | Router | None:
    """Return the application or router that a middleware leads to, or None if it may lead to several."""
    for called in called_applications(app, packages=_FRAMEWORKS, is_application=is_application):
        if isinstance(called, Router):
            return called
        if isinstance(called, Starlette):
            given = [one for added in called.user_middleware for one in (*added.args, *added.kwargs.values())]
            return None if any(map(is_application, given)) else called
    return None


@dataclass(frozen=True, eq=False)
class _Asking:
    """What a router calls to dispatch: it asks the policy first."""

    router: Router
    candidates: Candidates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            route = _matched(self.router, dict(scope), self.candidates)
            if route is not None:
                try:
                    await check_route(scope, route)
                except SignatureError as error:
                    # Without an application, the middleware answers.
                    raise (rejection(scope, error) if "app" in scope else error) from None
        await self.router.app(scope, receive, send)


def _hook(router: Router, candidates: Candidates) -> bool:
    """Let a router ask the policy before it dispatches, inside of its own middlewares. Return whether it does."""
    holder, name = cast("Any", router), "middleware_stack"
    while (called := getattr(holder, name, None)) != router.app:
        if called is None or isinstance(called, _Asking):
            return called is not None
        holder, name = called, "app"
    setattr(holder, name, _Asking(router, candidates))
    return True


def _matched(router: Router, scope: dict[str, Any], candidates: Candidates) -> MatchedRoute | None:
    """Return the route that a router is about to run, or None if it runs none or another router asks about it."""
    partly: tuple[BaseRoute, BaseRoute, dict[str, Any]] | None = None
    for declared, route in candidates(router.routes):
        match, child = route.matches(scope)
        if match is Match.FULL:
            return _about_to_run(declared, route, {**scope, **child}, candidates)
        if match is Match.PARTIAL and partly is None:
            partly = declared, route, {**scope, **child}
    if partly is not None:
        # A route answers 405.
        is_known = isinstance(partly[0], Route) and not overrides(partly[0], "handle")
        return None if is_known else _about_to_run(*partly, candidates)
    # FastAPI asks its frontends last.
    frontend = getattr(router, "_match_low_priority", None)
    if frontend is not None and frontend(scope)[0] is Match.FULL:
        return MatchedRoute(None, (_FILES,))
    return _unmatched(router)


def _unmatched(router: Router) -> MatchedRoute | None:
    """Return what runs if no route has matched, or None if it is a redirect or 404."""
    is_known = router.default == router.not_found and not overrides(router, "not_found")
    return None if is_known else MatchedRoute(router.default, is_opaque=True)


def _base(route: Any) -> Any:
    """Return what is mounted, without the middlewares that the mount may have around it."""
    return getattr(route, "_base_app", route.app)


def _about_to_run(
    declared: BaseRoute, route: Any, scope: dict[str, Any], candidates: Candidates
) -> MatchedRoute | None:
    """Return what runs after `route` has matched, or None for a mounted router, which asks about its own routes."""
    if isinstance(declared, (Route, WebSocketRoute)):
        endpoint = scope["endpoint"]
        method = scope.get("method", "").lower()
        methods = {"get" if method == "head" else method, "head", "dispatch", "method_not_allowed"}
        if answers_itself(endpoint, HTTPEndpoint, methods, _FRAMEWORKS) and not overrides(declared, "handle"):
            return None
        is_opaque = _is_application(endpoint) or overrides(declared, "handle")
        path = getattr(route, "path", None)
        return MatchedRoute(endpoint, (route.name,), scope["path_params"], is_opaque=is_opaque, path=path)
    if not isinstance(declared, (Mount, Host)):
        return MatchedRoute(declared, is_opaque=True)
    inner = _base(route)
    if (
        not overrides(declared, "handle")
        and isinstance(inner, (Starlette, Router))
        and _deciding(inner) is None
        and _hook(_router(inner), candidates)
    ):
        return None
    if type(inner) is StaticFiles and not overrides(declared, "handle"):
        return MatchedRoute(inner, (route.name, _FILES), scope["path_params"])
    return MatchedRoute(inner, (route.name,), scope["path_params"], is_opaque=True)


def _router(app: Starlette | Router) -> Router:
    return app if isinstance(app, Router) else app.router


def _deciding(app: Starlette | Router) -> Starlette | Router | None:
    """Return what is of a class that may run something without asking its routes: an application or its router."""
    router = _router(app)
    return app if overrides(app, "__call__") else router if overrides(router, "__call__", "app") else None


def overrides(given: object, *methods: str) -> bool:
    """Return whether a class outside of the frameworks defines one of the methods."""
    return not own_names(type(given), _FRAMEWORKS).isdisjoint(methods)


def _is_application(endpoint: object) -> bool:
    """Return whether an endpoint is an object, which Starlette runs as an ASGI application that may route by itself."""
    while isinstance(endpoint, partial):
        endpoint = cast("partial[object]", endpoint).func
    return not (isroutine(endpoint) or isclass(endpoint))

"""The Falcon middleware: it verifies a request before Falcon routes it, and asks the policy about the resource."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast, overload

import falcon
import falcon.asgi
from falcon.routing import StaticRoute

from undersigned import ConfigurationError, asgi, wsgi
from undersigned.policy import HookedRoutes, ListedRoute, MatchedRoute, RouteResolver

from .requirement import PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from undersigned.middleware import ASGISetup, WSGISetup


@overload
def SignatureMiddleware(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    app: falcon.asgi.App[Any, Any], **options: Unpack[ASGISetup]
) -> asgi.SignatureMiddleware: ...


@overload
def SignatureMiddleware(app: falcon.App[Any, Any], **options: Unpack[WSGISetup]) -> wsgi.SignatureMiddleware: ...


def SignatureMiddleware(  # noqa: N802 - it makes the middleware of the interface that the application has
    app: falcon.App[Any, Any], **options: Any
) -> asgi.SignatureMiddleware | wsgi.SignatureMiddleware:
    """Return a middleware around a Falcon application, which the server calls instead of the application.

    With a `RouteResolver`, the application asks the policy about the resource that it has found, or the sink, before
    any of it runs. A resource is listed by its class or by its URI template, and static routes as `static_files`.

    Args:
        app: the application. Add its own middlewares before, so that none changes a path that the policy has seen.
        options: those of `undersigned.asgi.SignatureMiddleware` or `undersigned.wsgi.SignatureMiddleware`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """
    if not isinstance(app, falcon.App):
        raise ConfigurationError("app: pass the Falcon application, not what is wrapped around it")
    is_asgi = isinstance(app, falcon.asgi.App)
    made = cast("Callable[..., Any]", asgi.SignatureMiddleware if is_asgi else wsgi.SignatureMiddleware)
    middleware: asgi.SignatureMiddleware | wsgi.SignatureMiddleware = made(
        HookedRoutes(cast("Any", app), partial(_listed, app)), **options
    )
    policy = options.get("policy")
    if policy is not None and isinstance(policy.resolver, RouteResolver):
        app.add_middleware(cast("Any", _Asking(app)))
    return middleware


def _listed(app: Any) -> list[ListedRoute] | None:
    # Falcon shows its routes by `falcon.inspect` only, which has no resources.
    roots: list[Any] | None = getattr(app._router, "_roots", None)  # noqa: SLF001
    if roots is None:
        return None
    found = [
        ListedRoute("*", getattr(matcher, "pattern", "/*"), _sink(one, {}))
        for matcher, one, _ in app._sink_and_static_routes  # noqa: SLF001
    ]
    waiting = [*roots]
    while waiting:
        node = waiting.pop(0)
        waiting += node.children
        if node.resource is not None:
            route = _matched(node.resource, node.uri_template, {})
            own = [method for method, responder in node.method_map.items() if not _is_falcons(responder)]
            found += [ListedRoute(method, node.uri_template, route) for method in sorted(own)]
    return found


class _Asking:
    """A component of Falcon that asks the policy about a resource, or about a sink, for which Falcon asks nobody."""

    def __init__(self, app: falcon.App[Any, Any]) -> None:
        # Falcon has no public way to see which sink it is about to call.
        self._find: Callable[[falcon.Request], Any] = app._get_responder  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    def process_request(self, request: falcon.Request, _answer: object) -> None:
        route = self._sink(request)
        if route is not None:
            PUBLISHED.check_route_now(request, route)

    async def process_request_async(self, request: falcon.Request, _answer: object) -> None:
        route = self._sink(request)
        if route is not None:
            await PUBLISHED.check_route(request, route)

    process_request_ws = process_request_async

    def process_resource(
        self, request: falcon.Request, _answer: object, resource: object, found: Mapping[str, Any]
    ) -> None:
        PUBLISHED.check_route_now(request, _matched(resource, request.uri_template, found))

    async def process_resource_async(
        self, request: falcon.Request, _answer: object, resource: object, found: Mapping[str, Any]
    ) -> None:
        await PUBLISHED.check_route(request, _matched(resource, request.uri_template, found))

    process_resource_ws = process_resource_async

    def _sink(self, request: falcon.Request) -> MatchedRoute | None:
        responder, found, resource, _ = self._find(request)
        return None if resource is not None or _is_falcons(responder) else _sink(responder, found)


def _is_falcons(responder: object) -> bool:
    return getattr(responder, "__module__", "") == "falcon.responders"


def _sink(responder: object, found: Mapping[str, Any]) -> MatchedRoute:
    return MatchedRoute(responder, ("static_files",) if isinstance(responder, StaticRoute) else (), found)


def _matched(resource: object, template: str | None, found: Mapping[str, Any]) -> MatchedRoute:
    return MatchedRoute(type(resource), (template or "",), found, path=template)

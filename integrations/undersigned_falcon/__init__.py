"""HTTP message signatures for Falcon: `SignatureMiddleware(app, ...)` verifies, `signature_required` guards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, Unpack, overload

from undersigned import ConfigurationError, SignatureError, asgi, wsgi
from undersigned.errors import needs_extra
from undersigned.middleware import ASGISetup, ErrorResponse, Published, WSGISetup
from undersigned.policy import ListedRoute, MatchedRoute, RouteResolver, Routes

with needs_extra("falcon"):
    import falcon.asgi
    from falcon.routing import StaticRoute

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "find_signature",
    "signature_required",
    "verified_signature",
]

Guarded = TypeVar("Guarded")


class SignatureRequired(falcon.HTTPUnauthorized):
    """The 401 for an unsigned request, with the code as its `title`; `error` is the reason, for the log.

    Handlers of `falcon.HTTPUnauthorized` and `falcon.HTTPError` get it. Without one, Falcon answers it as any other.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(title=answer.code, headers=answer.headers)
        self.status, self.error = answer.status, error


PUBLISHED = Published[falcon.Request](
    lambda request: request.scope if isinstance(request, falcon.asgi.Request) else request.env,
    is_request=lambda argument: isinstance(argument, falcon.Request),
    error=lambda _request, error: SignatureRequired(error),
    route=lambda request: request.uri_template,
    advice="serve SignatureMiddleware(app, ...) instead of the application",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(resource: Guarded) -> Guarded:
    """Let a responder, or every responder of a resource class, run only for a signed request.

    OPTIONS passes where Falcon answers it by itself, because no browser signs a CORS preflight.

    Args:
        resource: the class of a resource, or one of its responders, sync or async.

    Raises:
        ConfigurationError: `resource` is neither; or, during a request, no middleware has verified the request.
    """
    methods = {f"on_{method.lower()}" for method in ("request", *falcon.COMBINED_METHODS) if isinstance(resource, type)}
    responders = [name for name in dir(resource) if "_".join(name.split("_")[:2]) in methods]
    for name in responders:
        setattr(resource, name, signature_required(getattr(resource, name)))
    return resource if responders else PUBLISHED.guarded(resource, decorate="a responder, or a class that has some")


@overload
def SignatureMiddleware(app: falcon.asgi.App[Any, Any], **options: Unpack[ASGISetup]) -> asgi.SignatureMiddleware: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
@overload
def SignatureMiddleware(app: falcon.App[Any, Any], **options: Unpack[WSGISetup]) -> wsgi.SignatureMiddleware: ...
def SignatureMiddleware(app: Any, **options: Any) -> Any:  # noqa: N802 - as in each package
    """Return a middleware around a Falcon application, which the server calls instead of the application.

    The application asks the policy of a `RouteResolver` about the resource or sink that it has found, before any of it
    runs. A resource is listed by its class or by its URI template, and static routes as `static_files`.

    Args:
        app: the application. Add its own middlewares before, so that none changes a path that the policy has seen.
        options: those of `undersigned.asgi.SignatureMiddleware` or `undersigned.wsgi.SignatureMiddleware`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """
    given: Any = app
    if not isinstance(app, falcon.App):
        raise ConfigurationError("app: pass the Falcon application, not what is wrapped around it")
    package = asgi if isinstance(app, falcon.asgi.App) else wsgi
    given.add_middleware(_Asking(given))
    return package.SignatureMiddleware(Routes(given, partial(_listed, given), lambda: True), **options)


def _listed(app: Any) -> list[ListedRoute] | None:
    # Falcon shows its routes by `falcon.inspect` only, which has no resources.
    if (roots := getattr(app._router, "_roots", None)) is None:  # noqa: SLF001
        return None
    sinks: list[Any] = app._sink_and_static_routes  # noqa: SLF001
    found = [("*", getattr(matcher, "pattern", "/*"), _matched(one, None, {}, None)) for matcher, one, _ in sinks]
    for node in (nodes := [*roots]):
        nodes += node.children
        runs, path = sorted((node.method_map or dict[str, Any]()).items()), node.uri_template
        found += [(method, path, _matched(one, node.resource, {}, path)) for method, one in runs]
    return [ListedRoute(method, path, route) for method, path, route in found if route is not None]


@dataclass
class _Asking:
    """A component of Falcon that asks the policy about a resource, or about a sink, for which Falcon asks nobody."""

    app: Any

    def process_request(self, request: falcon.Request, _answer: object, *found: object) -> None:
        PUBLISHED.check_route_now(request, self._route(request, *found))

    async def process_request_async(self, request: falcon.Request, _answer: object, *found: object) -> None:
        await PUBLISHED.check_route(request, self._route(request, *found))

    process_resource = process_request
    process_request_ws = process_resource_async = process_resource_ws = process_request_async

    def _route(self, request: falcon.Request, *found: object) -> MatchedRoute | None:
        # Falcon has no public way to see which responder it is about to call. It asks again with the resource.
        responder, parameters, resource, template = self.app._get_responder(request)  # noqa: SLF001
        return None if resource and not found else _matched(responder, resource, parameters, template)


def _matched(responder: object, resource: object, found: dict[str, Any], template: str | None) -> MatchedRoute | None:
    if getattr(responder, "__module__", "") == "falcon.responders":
        return None
    runs = responder if resource is None else type(resource)
    return MatchedRoute(runs, ("static_files" if isinstance(runs, StaticRoute) else template,), found, path=template)

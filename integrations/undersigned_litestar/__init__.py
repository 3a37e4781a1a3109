"""HTTP message signatures for Litestar: `SignatureMiddleware(app, ...)` verifies, `signature_required` is a guard."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack, cast

from undersigned import ConfigurationError, SignatureError, asgi
from undersigned.errors import needs_extra
from undersigned.middleware import ASGISetup, ErrorResponse, Published, document_signature, must_be_signed
from undersigned.policy import ListedRoute, MatchedRoute, RouteResolver, Routes

with needs_extra("litestar"):
    from litestar import Litestar
    from litestar.connection import ASGIConnection
    from litestar.exceptions import NotAuthorizedException

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "document_policy",
    "find_signature",
    "signature_required",
    "verified_signature",
]


class SignatureRequired(NotAuthorizedException):
    """The 401 for an unsigned request, with the code as its `detail`; `error` is the reason, for the log.

    Handlers of `NotAuthorizedException` and `HTTPException` get it. Without one, Litestar answers it as any other.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(detail=answer.code, status_code=answer.status, headers=answer.headers)
        self.error = error


PUBLISHED = Published[ASGIConnection[Any, Any, Any, Any]](
    lambda connection: cast("dict[str, Any]", connection.scope),
    error=lambda _connection, error: SignatureRequired(error),
    route=lambda connection: cast("Any", connection).scope.get("path_template") or None,
    advice="call SignatureMiddleware(app, ...) before the application is served",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(connection: ASGIConnection[Any, Any, Any, Any], handler: Any) -> None:
    """Let a handler run only for a signed request: `@post(guards=[signature_required])`, or of a router or application.

    OPTIONS passes where Litestar answers it by itself, because no browser signs a CORS preflight.

    Raises:
        SignatureRequired: the request is unsigned.
        ConfigurationError: no middleware has verified it.
    """
    if cast("Any", connection).scope.get("method") != "OPTIONS" or not handler.fn.__module__.startswith("litestar."):
        verified_signature(connection)


def SignatureMiddleware(app: Litestar, **options: Unpack[ASGISetup]) -> Litestar:  # noqa: N802 - as in each package
    """Put the middleware around the router of an application, and return the application.

    Litestar runs its own middlewares after it has routed a request. With a `RouteResolver`, each handler asks the
    policy before its guards run.

    Args:
        app: the application.
        options: those of `undersigned.asgi.SignatureMiddleware`: `verifier`, `origins`, `mode` and so on.

    Raises:
        ConfigurationError: an option has a wrong value; or, when the server starts, the routes do not fit the policy.
    """
    if not isinstance(app, Litestar):
        raise ConfigurationError("app: pass the Litestar application, not what is wrapped around it")
    routes = Routes(cast("Any", app).asgi_handler, partial(_listed, app), lambda: True)
    app.asgi_handler = middleware = cast("Any", asgi.SignatureMiddleware(routes, **options))
    app.on_startup.append(middleware.check_start)
    # Handlers that are registered later get the guards of the application.
    for guards in (cast("Any", app).guards, *(handler.resolve_guards() for _, handler, _ in _handlers(app))):
        if _ask not in guards:
            guards.insert(0, _ask)
    return app


async def _ask(asked: Any, handler: Any) -> None:
    await PUBLISHED.check_route(asked, _matched(handler, asked.scope.get("path_template"), asked.path_params))


def _matched(handler: Any, path: str | None, parameters: dict[str, Any]) -> MatchedRoute:
    return MatchedRoute(handler.fn, (handler.name,), parameters, getattr(handler, "is_mount", False), path)


def _handlers(app: Litestar) -> list[tuple[str, Any, list[str]]]:
    found = [
        (route.path_format, handler, "WEBSOCKET" if route.scope_type.value == "websocket" else "*")
        for route in cast("list[Any]", app.routes)
        for handler in getattr(route, "route_handlers", None) or [route.route_handler]
    ]
    return [(path, one, sorted(getattr(one, "http_methods", None) or [other])) for path, one, other in found]


def _listed(app: Litestar) -> list[ListedRoute]:
    found = _handlers(app)
    return [ListedRoute(method, path, _matched(one, path, {})) for path, one, methods in found for method in methods]


def document_policy(app: Litestar) -> None:
    """Mark in the OpenAPI document the operations that must be signed: their security, header parameters and 401.

    Those are the handlers with the guard `signature_required`, and those that the `SignatureMiddleware` requires a
    signature for, unless that depends on path parameters.

    Args:
        app: the application. Call this after the last handler has been registered: Litestar then begins a new document.

    Raises:
        ConfigurationError: when the document is made, the policy has no `RouteResolver`.
    """
    plain = app.openapi_schema.to_schema

    def marked() -> dict[str, Any]:
        document, service = plain(), cast("Any", getattr(app.asgi_handler, "service", None))
        for path, handler, methods in _handlers(app):
            # Litestar wraps a guard that is not async.
            guards = [getattr(guard, "func", guard) for guard in handler.resolve_guards()]
            asked = _matched(handler, path, {})
            if signature_required in guards or (service and must_be_signed(service.policy, service.mode, asked)):
                document_signature(document, path, methods)
        return document

    app.openapi_schema.to_schema = marked  # type: ignore[method-assign]  # whoever shows the document asks

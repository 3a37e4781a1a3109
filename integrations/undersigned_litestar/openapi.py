"""The OpenAPI document of the operations that must be signed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from undersigned.asgi import SignatureMiddleware
from undersigned.middleware import document_signature, must_be_signed
from undersigned.policy import MatchedRoute

from .requirement import signature_required

if TYPE_CHECKING:
    from litestar import Litestar


def document_policy(app: Litestar) -> None:
    """Mark in the OpenAPI document the operations that must be signed: their security, header parameters and 401.

    These are the operations with the guard `signature_required`, and those that the policy or the mode of the
    application's `SignatureMiddleware` requires a signature for. A handler whose operation depends on its path
    parameters is not marked.

    Args:
        app: the application. Call this after the last handler has been registered: Litestar then begins a new document.

    Raises:
        ConfigurationError: when the document is made, the policy has no `RouteResolver`.
    """
    document = app.openapi_schema
    plain = document.to_schema
    document.to_schema = lambda: _marked(app, plain())  # type: ignore[method-assign]  # whoever shows the document asks


def _marked(app: Litestar, document: dict[str, Any]) -> dict[str, Any]:
    guarding: object = app.asgi_handler
    service = guarding.service if isinstance(guarding, SignatureMiddleware) else None
    routes: list[Any] = app.routes
    for route in routes:
        operations: dict[str, Any] = document["paths"].get(route.path_format, {})
        for handler in getattr(route, "route_handlers", ()):
            asked = MatchedRoute(handler.fn, (handler.name or "",))
            # Litestar wraps a guard that is not async.
            guards = [getattr(guard, "func", guard) for guard in cast("list[Any]", handler.resolve_guards())]
            if signature_required in guards or (service and must_be_signed(service.policy, service.mode, asked)):
                for method in operations.keys() & {name.lower() for name in handler.http_methods}:
                    document_signature(document, operations[method])
    return document

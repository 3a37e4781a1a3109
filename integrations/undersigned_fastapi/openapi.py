"""The OpenAPI document of the operations that must be signed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from undersigned.asgi import SignatureMiddleware
from undersigned.middleware import document_signature, must_be_signed
from undersigned.policy import MatchedRoute

from .requirement import SignatureScheme
from .routes import RouteResolver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI


def document_policy(app: FastAPI) -> None:
    """Mark in the OpenAPI document the operations that must be signed: their security, header parameters and 401.

    These are the operations with `Signature` or `signature_required`, and those that the policy or the mode of the
    application's `SignatureMiddleware` requires a signature for. A route whose operation depends on its path parameters
    is not marked.

    Args:
        app: the application. Its document is made when it is first asked for, so routes may be added later.

    Raises:
        ConfigurationError: when the document is made, the policy has no `RouteResolver`.
    """
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        for operation in (*_guarded(document), *_required(app, document)):
            document_signature(document, operation)
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it


def _guarded(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the operations that have the dependency."""
    for operations in document["paths"].values():
        for operation in operations.values():
            if {SignatureScheme.scheme_name: []} in operation.get("security", ()):
                yield operation


def _required(app: FastAPI, document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the operations that the middleware requires a signature for."""
    for added in app.user_middleware:
        options = cast("dict[str, Any]", added.kwargs)
        if cast("object", added.cls) is SignatureMiddleware:
            for _, route in RouteResolver.candidates(app.routes):
                found = MatchedRoute(getattr(route, "endpoint", None), (getattr(route, "name", ""),))
                if must_be_signed(options.get("policy"), options.get("mode", "required"), found):
                    operations = document["paths"].get(getattr(route, "path_format", None), {})
                    for method in operations.keys() & {name.lower() for name in getattr(route, "methods", None) or ()}:
                        yield operations[method]

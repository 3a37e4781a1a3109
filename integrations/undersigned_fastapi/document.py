"""The OpenAPI document of an application whose policy requires signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undersigned import ConfigurationError
from undersigned.policy import MatchedRoute

from .requirement import SignatureScheme
from .routes import RouteResolver

if TYPE_CHECKING:
    from fastapi import FastAPI

    from undersigned import Policy

_REQUIRED: dict[str, list[str]] = {SignatureScheme.scheme_name: []}
_SCHEME = SignatureScheme.model.model_dump(mode="json", by_alias=True, exclude_none=True)


def document_policy(app: FastAPI, policy: Policy) -> None:
    """Mark in the OpenAPI document the operations that a policy requires a signature for.

    `Signature` and `require_signature` are in the document without this call. A route whose operation depends on its
    path parameters is not marked.

    Args:
        app: the application. The document is made when it is first asked for, so routes may be added later.
        policy: the policy, with a `RouteResolver` of this package.

    Raises:
        ConfigurationError: the policy has another resolver.
    """
    resolver = policy.resolver
    if not isinstance(resolver, RouteResolver):
        raise ConfigurationError("policy: give it the resolver undersigned_fastapi.RouteResolver(app)")
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        for _, route in resolver.candidates(app.routes):
            asked = MatchedRoute(getattr(route, "endpoint", None), (getattr(route, "name", ""),))
            if policy.demand(resolver.operation_of(asked)) == "required":
                operations: dict[str, Any] = document["paths"].get(getattr(route, "path_format", None), {})
                for method in operations.keys() & {name.lower() for name in getattr(route, "methods", None) or ()}:
                    operation = operations[method]
                    # FastAPI keeps the document, and returns it again.
                    others = [other for other in operation.get("security", ()) if other != _REQUIRED]
                    operation["security"] = [*others, _REQUIRED]
                schemes: dict[str, Any] = document.setdefault("components", {}).setdefault("securitySchemes", {})
                schemes[SignatureScheme.scheme_name] = _SCHEME
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it

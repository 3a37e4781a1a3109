"""HTTP message signatures for FastAPI: `SignatureMiddleware` verifies, and `Signature` is the parameter of an endpoint.

As a dependency, `signature_required` lets an endpoint or a router run only for a signed request.
"""

# No `from __future__ import annotations`: FastAPI reads the annotations of a dependency when it is declared.
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, cast

from undersigned import Policy, VerifiedSignature
from undersigned.asgi import SignatureMiddleware
from undersigned.errors import needs_extra
from undersigned.middleware import SCHEME, document_signature, must_be_signed
from undersigned.policy import MatchedRoute

with needs_extra("fastapi"):
    from fastapi import Depends, FastAPI, routing
    from fastapi.openapi.models import HTTPBase
    from fastapi.security.base import SecurityBase
    from starlette.requests import HTTPConnection
    from starlette.routing import BaseRoute

    from undersigned_starlette import RouteResolver as StarletteRouteResolver
    from undersigned_starlette import SignatureRequired, find_signature, jwks_route, verified_signature
    from undersigned_starlette.routes import overrides

__all__ = [
    "RouteResolver",
    "Signature",
    "SignatureMiddleware",
    "SignatureRequired",
    "document_policy",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]


class SignatureScheme(SecurityBase):
    """The class of `signature_required`: a dependency, which is a security scheme as FastAPI documents it."""

    model = HTTPBase(scheme=SCHEME["scheme"], description=SCHEME["description"])
    scheme_name = "Signature"

    async def __call__(self, connection: HTTPConnection) -> VerifiedSignature:
        """Return the signature; for an unsigned request raise `SignatureRequired`."""
        return verified_signature(connection)


signature_required = SignatureScheme()
"""The dependency that lets an endpoint or a router run only for a signed request: `Depends(signature_required)`.

It returns the verified signature of the request or handshake. An unsigned one raises `SignatureRequired` and gets 401,
as by any `HTTPException`: FastAPI answers `{"detail": "request_signature_required"}`, and handlers of `HTTPException`
get it. If the server cannot send a response to a handshake, the handshake is closed with code 1008. If no middleware
has verified it, `ConfigurationError` is raised.
"""

Signature = Annotated[VerifiedSignature, Depends(signature_required)]
"""The signature of the request, as a parameter of a FastAPI endpoint."""


class RouteResolver(StarletteRouteResolver):
    """As `undersigned_starlette.RouteResolver`: the operation is the path operation function that is about to run.

    It follows included routers. The requests for an included router must be signed if a `route_class` in it overrides
    `matches`, or if its own class overrides `matches` or `handle`.
    """

    __slots__ = ()

    @staticmethod
    def candidates(routes: Sequence[BaseRoute]) -> Iterable[tuple[BaseRoute, BaseRoute]]:
        """Return each route as it was declared, with the route that matches in its place."""
        for route in routes:
            contexts: list[Any] = [*routing.iter_route_contexts([route])]
            included = [(context.original_route, context) for context in contexts]
            inside = [one for one, _ in included if one is not route and isinstance(one, routing.APIRoute)]
            if any(overrides(one, "matches") for one in inside) or _decides_by_itself(route):
                # FastAPI asks the declared route, in a way that is private, so only the router as a whole can be asked.
                yield route, route
            else:
                yield from included


def _decides_by_itself(included: object) -> bool:
    """Return whether an included router, or one that is included in it, has a class that decides what it runs."""
    router: Any = getattr(included, "original_router", None)
    return router is not None and (
        overrides(router, "matches", "handle") or any(map(_decides_by_itself, router.routes))
    )


def document_policy(app: FastAPI, policy: Policy | None = None) -> None:
    """Mark in the OpenAPI document the operations that must be signed: their security, header parameters and 401.

    These are the operations with `Signature` or `signature_required`, and those that the policy or the mode of the
    application's `SignatureMiddleware` requires a signature for, unless that depends on path parameters.

    Args:
        app: the application. Its document is made when it is first asked for, so routes may be added later.
        policy: the policy of a `SignatureMiddleware(app, ...)` that is around the application and not added to it.

    Raises:
        ConfigurationError: when the document is made, the policy has no `RouteResolver`.
    """
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        for path, operations in document["paths"].items():
            guarded = [name for name, one in operations.items() if {"Signature": []} in one.get("security", ())]
            document_signature(document, path, guarded)
        added: list[Any] = [one.kwargs for one in app.user_middleware if cast("object", one.cls) is SignatureMiddleware]
        if policy is not None:
            added.append({"policy": policy})
        for options in added:
            for _, route in cast("Any", RouteResolver.candidates(app.routes)):
                found = MatchedRoute(getattr(route, "endpoint", None), (getattr(route, "name", ""),))
                if must_be_signed(options.get("policy"), options.get("mode", "required"), found):
                    methods = getattr(route, "methods", None) or ()
                    document_signature(document, getattr(route, "path_format", ""), methods)
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it

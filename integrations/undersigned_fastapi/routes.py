"""Policies by route for FastAPI, whose routers include others, and the OpenAPI document of what they require."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import routing

from undersigned import ConfigurationError
from undersigned.policy import MatchedRoute
from undersigned_starlette import RouteResolver as _RouteResolver

from .requirement import SignatureScheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fastapi import FastAPI
    from starlette.routing import BaseRoute

    from undersigned import Policy


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the path operation function that is about to run.

    As `undersigned_starlette.RouteResolver`, and it follows included routers. The requests for an included router must
    be signed if a `route_class` in it overrides `matches`, or if its own class overrides `matches` or `handle`.

    Args:
        operations: as in `undersigned.policy.RouteResolver`.

    Raises:
        TypeError: `operations` is not a mapping.
    """

    __slots__ = ()

    @staticmethod
    def candidates(routes: Sequence[BaseRoute]) -> Iterable[tuple[BaseRoute, BaseRoute]]:
        """Return each route as it was declared, with the route that matches in its place."""
        # Older versions of FastAPI copy the routes of an included router.
        contexts: Callable[[Sequence[BaseRoute]], Iterable[Any]] = getattr(routing, "iter_route_contexts", iter)
        for route in routes:
            included = [(getattr(context, "original_route", context), context) for context in contexts([route])]
            itself = any(declared is not route and _matches_by_itself(declared) for declared, _ in included)
            if itself or _decides_by_itself(route):
                # FastAPI asks the declared route, in a way that is private, so only the router as a whole can be asked.
                yield route, route
            else:
                yield from included


def _matches_by_itself(route: BaseRoute) -> bool:
    """Return whether a route is of a class of the application's own that decides what it matches."""
    return isinstance(route, routing.APIRoute) and type(route).matches is not routing.APIRoute.matches


def _decides_by_itself(included: object) -> bool:
    """Return whether an included router, or one that is included in it, has a class that decides what it runs."""
    router: routing.APIRouter | None = getattr(included, "original_router", None)
    if router is None:
        return False
    usual = routing.APIRouter.matches, routing.APIRouter.handle
    return (type(router).matches, type(router).handle) != usual or any(map(_decides_by_itself, router.routes))


_REQUIRED: dict[str, list[str]] = {SignatureScheme.scheme_name: []}
_SCHEME = SignatureScheme.model.model_dump(mode="json", by_alias=True, exclude_none=True)


def document_policy(app: FastAPI, policy: Policy) -> None:
    """Mark in the OpenAPI document the operations that a policy requires a signature for.

    `Signature` and `signature_required` are in the document without this call, which adds the answer 401 to them too.
    A route whose operation depends on its path parameters is not marked.

    Args:
        app: the application. The document is made when it is first asked for, so routes may be added later.
        policy: the policy, with a `RouteResolver` of this package.

    Raises:
        ConfigurationError: the policy has another resolver.
    """
    resolver = policy.resolver
    if not isinstance(resolver, RouteResolver):
        raise ConfigurationError("policy: give it the resolver undersigned_fastapi.RouteResolver()")
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        for _, route in resolver.candidates(app.routes):
            asked = MatchedRoute(getattr(route, "endpoint", None), (getattr(route, "name", ""),))
            if policy.demand(resolver.operation_of(asked, listed=policy.required_for)) == "required":
                operations: dict[str, Any] = document["paths"].get(getattr(route, "path_format", None), {})
                for method in operations.keys() & {name.lower() for name in getattr(route, "methods", None) or ()}:
                    operation = operations[method]
                    # FastAPI keeps the document, and returns it again.
                    others = [other for other in operation.get("security", ()) if other != _REQUIRED]
                    operation["security"] = [*others, _REQUIRED]
                schemes: dict[str, Any] = document.setdefault("components", {}).setdefault("securitySchemes", {})
                schemes[SignatureScheme.scheme_name] = _SCHEME
        for operations in document.get("paths", {}).values():
            for operation in operations.values():
                if _REQUIRED in operation.get("security", ()):
                    operation["responses"].setdefault("401", {"description": "Unsigned, or not validly signed"})
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it

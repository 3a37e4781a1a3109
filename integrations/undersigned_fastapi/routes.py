"""Policies by route for FastAPI, whose routers include others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import routing

from undersigned_starlette import RouteResolver as _RouteResolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.routing import BaseRoute


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
        for route in routes:
            contexts: list[Any] = [*routing.iter_route_contexts([route])]
            included = [(context.original_route, context) for context in contexts]
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

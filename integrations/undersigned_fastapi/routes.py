"""The operation of a request by the route that FastAPI's router finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import routing

from undersigned_starlette import RouteResolver as _RouteResolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from starlette.routing import BaseRoute


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the path operation function that the application's router runs.

    As `undersigned_starlette.RouteResolver`, and it follows included routers.

    Args:
        app: the application, or a router.
        operations: as in `undersigned.policy.RouteResolver`.

    Raises:
        ConfigurationError: an argument has a wrong value.
    """

    __slots__ = ()

    def candidates(self, routes: Sequence[BaseRoute]) -> Iterable[tuple[BaseRoute, BaseRoute]]:
        """Return each route as it was declared, with the route that matches in its place."""
        # Older versions of FastAPI copy the routes of an included router.
        contexts: Callable[[Sequence[BaseRoute]], Iterable[Any]] = getattr(routing, "iter_route_contexts", iter)
        for route in contexts(routes):
            yield getattr(route, "original_route", route), route

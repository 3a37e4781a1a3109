"""The operation of a request by the rule that Flask's URL map finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask

from undersigned import ConfigurationError
from undersigned.policy import MatchedRoute, UnreadContent
from undersigned.policy import RouteResolver as _RouteResolver

from .dispatch import guard_views, is_guarded, route_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned.policy import RouteOperation


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the view function that Flask runs.

    `operations` lists views by the function or by the endpoint, such as `plans.create` in a blueprint.

    It also guards the views of the application. A middleware or a function such as `before_request` may change the
    path, the route or a parameter of an unsigned request. If the view then has another operation, the answer is 401. A
    function that answers a request itself is not a view: if such requests must be signed, use `signature_required`.

    Args:
        app: the application.
        operations: as in `undersigned.policy.RouteResolver`.

    Raises:
        ConfigurationError: an argument has a wrong value, or the application overrides a method of Flask that leads to
            a view, such as `dispatch_request`.
    """

    __slots__ = ("_app",)

    def __init__(self, app: Flask, operations: Mapping[object, RouteOperation] | None = None) -> None:
        super().__init__(operations)
        if not isinstance(app, Flask):
            raise ConfigurationError("app: pass the Flask application")
        guard_views(app)
        self._app = app

    def routes(self) -> Iterable[MatchedRoute]:
        """Return every rule of the application; as `undersigned.policy.RouteResolver.routes`."""
        views = self._app.view_functions
        return [
            MatchedRoute(views.get(endpoint), (endpoint, endpoint.rpartition(".")[2]))
            for endpoint in {rule.endpoint for rule in self._app.url_map.iter_rules()}
        ]

    def find(self, dispatched: Mapping[str, object]) -> MatchedRoute | None:
        """Return the rule for an environ; as `undersigned.policy.RouteResolver.find`."""
        if not is_guarded(self._app):
            raise LookupError("something has replaced the application's dispatch_request")
        context = self._app.request_context({**dispatched, "wsgi.input": UnreadContent()})
        if context.url_adapter is not None:
            # Flask matches the request itself by this method too, which a class of the application may override.
            context.match_request()
        return route_of(self._app, context.request)

"""The operation of a request by the rule that Flask's URL map finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask
from werkzeug.exceptions import HTTPException

from undersigned import ConfigurationError
from undersigned.policy import MatchedRoute
from undersigned.policy import RouteResolver as _RouteResolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned.policy import RouteOperation


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the view function that Flask runs.

    `operations` lists views by the function or by the endpoint, such as `plans.create` in a blueprint. Between
    SignatureMiddleware and Flask, no middleware may change the path.

    Args:
        app: the application.
        operations: as in `undersigned.policy.RouteResolver`.

    Raises:
        ConfigurationError: an argument has a wrong value.
    """

    __slots__ = ("_app",)

    def __init__(self, app: Flask, operations: Mapping[object, RouteOperation] | None = None) -> None:
        super().__init__(operations)
        if not isinstance(app, Flask):
            raise ConfigurationError("app: pass the Flask application")
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
        request = self._app.request_class(dict(dispatched))
        try:
            adapter = self._app.create_url_adapter(request)
            if adapter is None:
                raise LookupError("Flask makes no URL adapter")
            rule, parameters = adapter.match(return_rule=True)
        except HTTPException:
            # 404, 405, a redirect, or a Host that is not trusted.
            return None
        if request.method == "OPTIONS" and getattr(rule, "provide_automatic_options", False):
            return None
        endpoint: str = rule.endpoint
        view = self._app.view_functions[endpoint]
        return MatchedRoute(view, (endpoint, endpoint.rpartition(".")[2]), parameters, path=rule.rule)

"""The view that Flask is about to run: the policy must have decided about its operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import request

from undersigned import ConfigurationError, SignatureError
from undersigned.middleware import ErrorResponse
from undersigned.policy import MatchedRoute
from undersigned.wsgi import OPERATION

from .answer import unsigned_response
from .requirement import published_verification

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Flask, Request
    from flask.typing import ResponseReturnValue

_GUARD = "undersigned_dispatch"
"""The key of `app.extensions`."""
_METHOD = "dispatch_request"
_METHODS = ("__call__", "wsgi_app", "full_dispatch_request", "preprocess_request", _METHOD)
"""The methods that take a request to its view. If one is overridden, any view may run."""


def guard_views(app: Flask) -> None:
    """Let a view run for an unsigned request only if the policy has decided about its operation.

    A function or a middleware may change the path, the route or a parameter after a `RouteResolver` asked the router.

    Raises:
        ConfigurationError: the application overrides a method that takes a request to its view.
    """
    if is_guarded(app):
        return
    for method in _METHODS:
        if _is_own(app, method):
            raise ConfigurationError(
                f"app: {type(app).__name__} defines {method}, so it is unknown which view runs: remove the method, or "
                "use PathResolver"
            )
    dispatch: Callable[..., ResponseReturnValue] = app.dispatch_request

    def guard(*context: object) -> ResponseReturnValue:
        rejection = _rejection(app)
        return dispatch(*context) if rejection is None else rejection

    app.extensions[_GUARD] = guard
    setattr(app, _METHOD, guard)


def is_guarded(app: Flask) -> bool:
    """Return whether the views of an application are guarded, and no other method has replaced the guard."""
    guard: object = app.extensions.get(_GUARD)
    return guard is not None and vars(app).get(_METHOD) is guard


def route_of(app: Flask, matched: Request) -> MatchedRoute | None:
    """Return the route that Flask runs for a request that it has matched, or None if it runs none.

    Raises:
        LookupError: the route has no view.
    """
    if matched.routing_exception is not None:
        # 404, 405, a redirect, or a Host that is not trusted.
        return None
    rule = matched.url_rule
    if rule is None:
        raise LookupError("Flask has matched no rule")
    if matched.method == "OPTIONS" and getattr(rule, "provide_automatic_options", False):
        return None
    endpoint: str = rule.endpoint
    names = (endpoint, endpoint.rpartition(".")[2])
    return MatchedRoute(app.view_functions[endpoint], names, matched.view_args or {}, path=rule.rule)


def _is_own(app: Flask, method: str) -> bool:
    """Return whether an application overrides a method of Flask."""
    # A middleware may be the `wsgi_app` of an application, as Flask documents it.
    if method in vars(app) and method != "wsgi_app":
        return True
    owner = next(cls for cls in type(app).__mro__ if method in vars(cls))
    return owner.__module__.partition(".")[0] != "flask"


def _rejection(app: Flask) -> ResponseReturnValue | None:
    """Return the response to a request that may not run the view that Flask is about to run."""
    operation: object = request.environ.get(OPERATION)
    if operation is None:
        return None
    try:
        published_verification().check_route(operation, route_of(app, request), method=request.method)
    except SignatureError as error:
        return unsigned_response(request.environ, ErrorResponse.of(error))
    return None

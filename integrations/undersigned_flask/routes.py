"""The resolver for policies by route: its operations are the views of Flask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask

from undersigned import ConfigurationError
from undersigned.policy import RouteResolver as _RouteResolver

from .dispatch import guard_mounts, guard_views, is_guarded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.policy import RouteOperation


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the view function that Flask is about to run.

    `operations` lists views by the function or by the endpoint, such as `plans.create` in a blueprint.

    The application asks the policy when all functions such as `before_request` have run. A function that answers a
    request itself is not a view: if such requests must be signed, use `signature_required`.

    The policy also decides about the views of the Flask applications that run inside the middleware, such as those that
    a `DispatcherMiddleware` of `app.wsgi_app` mounts. Requests for another application that it mounts must be signed,
    unless `operations` lists that application.

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

    def has_hook(self) -> bool:
        """Return whether the application asks the policy; as `undersigned.policy.RouteResolver.has_hook`."""
        guard_mounts(self._app)
        return is_guarded(self._app)

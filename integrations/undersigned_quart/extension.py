"""The Quart extension, which verifies requests, and asks the policy about the view that Quart is about to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quart import Quart

from undersigned import ConfigurationError
from undersigned.asgi import SignatureMiddleware
from undersigned.policy import HookedRoutes, MatchedRoute

from .requirement import PUBLISHED, answers_itself, received

if TYPE_CHECKING:
    from typing import Any, Unpack

    from undersigned.middleware import ASGISetup


class Undersigned:
    """An extension that verifies the requests and handshakes of a Quart application.

    A request that comes to a view without the middleware gets 500. With a `RouteResolver`, the policy decides about
    the view before any `before_request` function runs.

    Args:
        app: the application.
        options: those of `undersigned.asgi.SignatureMiddleware`: `verifier`, `origins`, `mode` and so on.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(self, app: Quart, **options: Unpack[ASGISetup]) -> None:
        if not isinstance(app, Quart):
            raise ConfigurationError("app: pass the Quart application")
        self._app = app
        verified: Any = SignatureMiddleware(HookedRoutes(app.asgi_app), **options)
        app.asgi_app = verified  # type: ignore[method-assign]  # as Quart documents it
        app.before_request_funcs[None].insert(0, self._ask)
        app.before_websocket_funcs[None].insert(0, self._ask)

    async def _ask(self) -> None:
        """Apply the policy to the view that has been found. Without one, only check that the request was verified."""
        asked = received()
        rule = asked.url_rule
        if rule is None or asked.routing_exception is not None or answers_itself(asked):
            PUBLISHED.admission(asked)
            return
        names = (rule.endpoint, rule.endpoint.rpartition(".")[2])
        view = self._app.view_functions.get(rule.endpoint)
        await PUBLISHED.check_route(asked, MatchedRoute(view, names, asked.view_args or {}, path=rule.rule))

"""The Quart extension, which verifies requests, and asks the policy about the view that Quart is about to run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from quart import Quart

from undersigned import ConfigurationError
from undersigned.asgi import SignatureMiddleware
from undersigned.policy import HookedRoutes, ListedRoute, MatchedRoute

from .requirement import PUBLISHED, answers_itself, received

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Unpack

    from werkzeug.routing import Rule

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
        verified: Any = SignatureMiddleware(HookedRoutes(app.asgi_app, partial(_listed, app)), **options)
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
        await PUBLISHED.check_route(asked, _matched(self._app, rule, asked.view_args or {}))


def _matched(app: Quart, rule: Rule, parameters: Mapping[str, object]) -> MatchedRoute:
    names = (rule.endpoint, rule.endpoint.rpartition(".")[2])
    return MatchedRoute(app.view_functions.get(rule.endpoint), names, parameters, path=rule.rule)


def _listed(app: Quart) -> Iterator[ListedRoute]:
    rules: Any = app.url_map.iter_rules()
    for rule in rules:
        methods = (rule.methods or set[str]()) - ({"OPTIONS"} if rule.provide_automatic_options else set[str]())
        for method in ["WEBSOCKET"] if rule.websocket else sorted(methods):
            yield ListedRoute(method, rule.rule, _matched(app, rule, {}))

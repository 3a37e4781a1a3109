"""The Quart extension, which verifies requests, and asks the policy about the view that Quart is about to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from quart import Quart

from undersigned import ConfigurationError, SignatureError
from undersigned.asgi import SignatureMiddleware, check_route
from undersigned.policy import MatchedRoute, RouteResolver

from .requirement import PUBLISHED, SignatureRequired, received

if TYPE_CHECKING:
    from typing import Any, Unpack

    from undersigned import AsyncVerifier, Verifier
    from undersigned.asgi import Scope
    from undersigned.middleware import AsyncOptions, ConfiguredOrigins


class Undersigned:
    """An extension that verifies the requests and handshakes of a Quart application.

    A request that comes to a view without the middleware gets 500. With a `RouteResolver`, the policy decides about
    the view before any `before_request` function runs.

    Args:
        app: the application.
        verifier: a `Verifier`, which is asked in a thread if its sources block, or an `AsyncVerifier`.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        server_adds_root_path: as in `undersigned.asgi.SignatureMiddleware`.
        http2_server: as in `undersigned.asgi.SignatureMiddleware`.
        options: the options of every middleware, as `undersigned.middleware.AsyncOptions` lists them: `mode`, `policy`
            and so on. Their functions get the scope.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        app: Quart,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: ConfiguredOrigins,
        server_adds_root_path: bool = False,
        http2_server: str | None = None,
        **options: Unpack[AsyncOptions[Scope]],
    ) -> None:
        if not isinstance(app, Quart):
            raise ConfigurationError("app: pass the Quart application")
        self._app = app
        policy = options.get("policy")
        if policy is not None and isinstance(policy.resolver, RouteResolver):
            policy.resolver.hook(self._ask)
        verified: Any = SignatureMiddleware(
            cast("Any", app.asgi_app),
            verifier=verifier,
            origins=origins,
            server_adds_root_path=server_adds_root_path,
            http2_server=http2_server,
            **options,
        )
        app.asgi_app = verified  # type: ignore[method-assign]  # as Quart documents it
        app.before_request_funcs[None].insert(0, self._ask)
        app.before_websocket_funcs[None].insert(0, self._ask)

    async def _ask(self) -> None:
        """Apply the policy to the view that has been found. Without one, only check that the request was verified."""
        asked = received()
        rule = asked.url_rule
        runs_none = rule is None or (asked.method == "OPTIONS" and rule.provide_automatic_options)
        if rule is None or runs_none or asked.routing_exception is not None:
            PUBLISHED.admission(asked)
            return
        names = (rule.endpoint, rule.endpoint.rpartition(".")[2])
        view = self._app.view_functions.get(rule.endpoint)
        route = MatchedRoute(view, names, asked.view_args or {}, path=rule.rule)
        try:
            await check_route(cast("Scope", asked.scope), route)
        except SignatureError as error:
            raise SignatureRequired(error) from None

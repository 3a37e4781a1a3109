"""HTTP message signatures for Quart: `Undersigned(app, ...)` verifies, `signature_required` guards views."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from undersigned import ConfigurationError, SignatureError, asgi
from undersigned.errors import needs_extra
from undersigned.middleware import ASGISetup, ErrorResponse, Published
from undersigned.policy import ListedRoute, MatchedRoute, RouteResolver, Routes

with needs_extra("quart"):
    from quart import Blueprint, Quart, Request, Response, Websocket, has_request_context, request, websocket
    from werkzeug.exceptions import Unauthorized

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

View = TypeVar("View", bound="Blueprint | Callable[..., object]")


class SignatureRequired(Unauthorized):
    """The 401 for an unsigned request, with the code as its `description`; `error` is the reason, for the log.

    Handlers of 401, `Unauthorized` and `HTTPException` get it. Without one, Quart sends its `response`.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.code, cast("Any", Response(answer.body, answer.status, dict(answer.fields))))
        self.code, self.error = answer.status, error


PUBLISHED = Published[Request | Websocket](
    lambda asked: cast("dict[str, Any]", asked.scope),
    error=lambda _asked, error: SignatureRequired(error),
    route=lambda asked: None if asked.url_rule is None else asked.url_rule.rule,
    advice="call Undersigned(app, ...) before the application is served",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(view: View) -> View:
    """Let a view, or every view and WebSocket of a blueprint, run only for a signed request.

    Put `@signature_required` below `@app.route`. The guard of a blueprint lets OPTIONS pass where Quart answers it
    by itself, because no browser signs a CORS preflight.

    Args:
        view: the view function, sync or async, or the blueprint before it is registered.

    Returns:
        The guarded view, or the same blueprint.

    Raises:
        ConfigurationError: `view` is neither; or, during a request, no middleware has verified the request.
    """
    if isinstance(view, Blueprint):
        view.before_request(_require_in_blueprint)
        view.before_websocket(_require_in_blueprint)
        return cast("View", view)
    called = None if isinstance(view, Quart) else view
    return cast("View", PUBLISHED.guarded(called, decorate="a view function or a blueprint", request_of=_received))


async def _require_in_blueprint() -> None:
    if not _answers_itself(_received()):
        verified_signature(_received())


def _answers_itself(asked: Request | Websocket) -> bool:
    return asked.method == "OPTIONS" and bool(getattr(asked.url_rule, "provide_automatic_options", False))


def _received(*_args: object, **_kwargs: object) -> Request | Websocket:
    return request if has_request_context() else websocket


class Undersigned(asgi.SignatureMiddleware):
    """An extension that verifies the requests and handshakes of a Quart application, as its outermost middleware.

    A request that comes to a view without the middleware gets 500. With a `RouteResolver`, the policy decides about
    the view before any `before_request` function runs. `SignatureMiddleware` is another name of it.

    Args:
        app: the application, or its `asgi_app`.
        options: those of `undersigned.asgi.SignatureMiddleware`: `verifier`, `origins`, `mode` and so on.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(self, app: Quart | Callable[..., Any], **options: Unpack[ASGISetup]) -> None:
        quart = getattr(app, "__self__", app)
        if not isinstance(quart, Quart):
            raise ConfigurationError("app: pass the Quart application")
        super().__init__(Routes(quart.asgi_app, partial(_listed, quart), lambda: True), **options)
        quart.asgi_app = self  # type: ignore[method-assign,assignment]  # as Quart documents it
        for hooks in (quart.before_request_funcs, quart.before_websocket_funcs):
            hooks[None].insert(0, partial(_ask, quart))


SignatureMiddleware = Undersigned


async def _ask(app: Quart) -> None:
    asked = _received()
    is_answered = asked.url_rule is None or asked.routing_exception is not None or _answers_itself(asked)
    route = None if is_answered else _matched(app, asked.url_rule, asked.view_args or {})
    await PUBLISHED.check_route(asked, route)


def _matched(app: Quart, rule: Any, parameters: dict[str, Any]) -> MatchedRoute:
    names = (rule.endpoint, rule.endpoint.rpartition(".")[2])
    return MatchedRoute(app.view_functions.get(rule.endpoint), names, parameters, path=rule.rule)


def _listed(app: Quart) -> list[ListedRoute]:
    rules: list[Any] = list(app.url_map.iter_rules())
    found = [(rule, method) for rule in rules for method in (["WEBSOCKET"] if rule.websocket else sorted(rule.methods))]
    kept = [one for one in found if one[1] != "OPTIONS" or not one[0].provide_automatic_options]
    return [ListedRoute(method, rule.rule, _matched(app, rule, {})) for rule, method in kept]

"""The requirement of a signature for a view or a blueprint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from quart import Blueprint, Quart, Response, has_request_context, request, websocket
from werkzeug.exceptions import Unauthorized

from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable

    from quart.wrappers import Request, Websocket

    from undersigned import SignatureError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
AnyBlueprint = TypeVar("AnyBlueprint", bound=Blueprint)


class SignatureRequired(Unauthorized):
    """Raised when a view requires a signature and the request is unsigned: a 401 with the code as its `description`.

    Handlers of 401, `Unauthorized` and `HTTPException` get it. Without one, Quart sends its `response`.

    Attributes:
        error: the reason, for the log; `error.code` is the code that the caller gets.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        response: Any = Response(answer.body, answer.status, dict(answer.fields))
        super().__init__(answer.code, response)
        self.code, self.error = answer.status, error


PUBLISHED = Published["Request | Websocket"](
    lambda asked: cast("dict[str, Any]", asked.scope),
    error=lambda _asked, error: SignatureRequired(error),
    route=lambda asked: None if asked.url_rule is None else asked.url_rule.rule,
    advice="call Undersigned(app, ...) before the application is served",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


@overload
def signature_required(view: AnyBlueprint) -> AnyBlueprint: ...


@overload
def signature_required(view: Callable[Parameters, Result]) -> Callable[Parameters, Result]: ...


def signature_required(view: object) -> object:
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
        return view
    if isinstance(view, Quart):
        view = None
    called: Any = view
    return PUBLISHED.guarded(called, decorate="a view function or a blueprint", request_of=received)


async def _require_in_blueprint() -> None:
    asked = received()
    if not answers_itself(asked):
        verified_signature(asked)


def answers_itself(asked: Request | Websocket) -> bool:
    """Return whether Quart answers OPTIONS by itself, and runs no view."""
    rule: Any = asked.url_rule
    return asked.method == "OPTIONS" and rule is not None and bool(rule.provide_automatic_options)


def received(*_args: object, **_kwargs: object) -> Request | Websocket:
    """Return the request or handshake that Quart handles now, whatever a view is called with."""
    return request if has_request_context() else websocket

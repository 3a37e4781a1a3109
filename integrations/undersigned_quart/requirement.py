"""The requirement of a signature for a view or a blueprint."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from quart import Blueprint, Quart, Response, current_app, has_request_context, request, websocket
from werkzeug.exceptions import Unauthorized

from undersigned import ConfigurationError, SignatureError
from undersigned.asgi import ADMISSION
from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from quart.wrappers import Request, Websocket

    from undersigned import VerifiedSignature

Parameters = ParamSpec("Parameters")
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
    lambda asked: cast("dict[str, Any]", asked.scope).get(ADMISSION),
    route=lambda asked: None if asked.url_rule is None else asked.url_rule.rule,
    advice="call Undersigned(app, ...) before the application is served",
)


def find_signature(asked: Request | Websocket) -> VerifiedSignature | None:
    """Return the verified signature of a request or handshake, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return PUBLISHED.find(asked)


def verified_signature(asked: Request | Websocket) -> VerifiedSignature:
    """Return the verified signature of a request or handshake.

    Raises:
        SignatureRequired: it is unsigned. Quart answers 401.
        ConfigurationError: no middleware has verified it.
    """
    try:
        return PUBLISHED.require(asked)
    except SignatureError as error:
        raise SignatureRequired(error) from None


@overload
def signature_required(view: AnyBlueprint) -> AnyBlueprint: ...


@overload
def signature_required(view: Callable[Parameters, object]) -> Callable[Parameters, Coroutine[Any, Any, Any]]: ...


def signature_required(view: object) -> object:
    """Let a view, or every view and WebSocket of a blueprint, run only for a signed request.

    Put `@signature_required` below `@app.route`. The guard of a blueprint lets CORS preflights pass, because no browser
    signs them.

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
    if isinstance(view, (type, Quart)) or not callable(view):
        raise ConfigurationError("signature_required: decorate a view function or a blueprint")
    called: Callable[..., Any] = view

    @wraps(called)
    async def guard(*args: object, **kwargs: object) -> object:
        verified_signature(received())
        return await current_app.ensure_async(called)(*args, **kwargs)

    return guard


async def _require_in_blueprint() -> None:
    asked = received()
    if not PUBLISHED.admission(asked).received.is_preflight:
        verified_signature(asked)


def received() -> Request | Websocket:
    """Return the request or handshake that Quart handles now."""
    return request if has_request_context() else websocket

"""The requirement of a signature for a handler, and the exception that becomes the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from sanic import Blueprint
from sanic.exceptions import SanicException, Unauthorized

from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable

    from sanic import Request

    from undersigned import SignatureError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Rejected(SanicException):
    """Raised to answer a request that is rejected.

    Attributes:
        answer: the answer.
    """

    quiet = True

    def __init__(self, answer: ErrorResponse) -> None:
        super().__init__("the request is rejected", status_code=answer.status)
        self.answer = answer


class SignatureRequired(Unauthorized):
    """Raised when a handler requires a signature and the request is unsigned: a 401 with the code as its message.

    Handlers of `Unauthorized` and `SanicException` get it. Without one, Sanic answers it as any other.

    Attributes:
        error: the reason, for the log; `error.code` is the code that the caller gets.
    """

    quiet = True

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.code, headers=answer.headers)  # pyright: ignore[reportUnknownMemberType]
        self.status_code, self.error = answer.status, error


def place(request: Request[Any, Any]) -> dict[str, Any]:
    """Return the scope on an ASGI server, and attributes on Sanic's own."""
    return cast("dict[str, Any]", request.scope if request.app.asgi else vars(request.ctx))


PUBLISHED = Published["Request[Any, Any]"](
    place,
    error=lambda _request, error: SignatureRequired(error),
    route=lambda request: None if request.route is None else f"/{request.route.path}",
    advice="call Undersigned(app, ...) before the application is served",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


@overload
def signature_required(handler: Blueprint) -> Blueprint: ...


@overload
def signature_required(handler: Callable[Parameters, Result]) -> Callable[Parameters, Result]: ...


def signature_required(handler: object) -> object:
    """Let a handler, or every handler of a blueprint, run only for a signed request.

    An unsigned one raises `SignatureRequired`. The guard of a blueprint lets CORS preflights pass, because no browser
    signs them. Sanic accepts a WebSocket handshake before its handler runs, so an unsigned one is accepted and then
    closed; in a blueprint that is guarded, it gets 401.

    Args:
        handler: the function of a request, sync or async, or the blueprint. In a class, use
            `decorators = [signature_required]`.

    Returns:
        The guarded handler, or the same blueprint.

    Raises:
        ConfigurationError: `handler` is neither; or, during a request, nothing has verified it.
    """
    if isinstance(handler, Blueprint):
        handler.on_request(_require_in_blueprint)  # pyright: ignore[reportUnknownMemberType]
        return handler
    called: Any = handler
    return PUBLISHED.guarded(called, decorate="a function or a blueprint; in a class, use decorators = [...]")


async def _require_in_blueprint(request: Request[Any, Any]) -> None:
    if not PUBLISHED.admission(request).received.is_preflight:
        verified_signature(request)

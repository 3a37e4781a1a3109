"""The requirement of a signature for a handler, and the exception that becomes the answer."""

from __future__ import annotations

from functools import wraps
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from sanic.exceptions import SanicException, Unauthorized

from undersigned import ConfigurationError, SignatureError
from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from sanic import Request

    from undersigned import VerifiedSignature

Parameters = ParamSpec("Parameters")

ADMISSION = "undersigned_admission"
"""The attribute of `request.ctx` for what was published."""


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
        answer: the answer, which is sent as it is if `rejection=` has shaped it.
    """

    quiet = True

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.code, headers=answer.headers)  # pyright: ignore[reportUnknownMemberType]
        self.status_code = answer.status
        self.error, self.answer = error, answer


def _route(request: Request[Any, Any]) -> str | None:
    return None if request.route is None else f"/{request.route.path}"


PUBLISHED = Published["Request[Any, Any]"](
    lambda request: getattr(request.ctx, ADMISSION, None),
    route=_route,
    advice="call Undersigned(app, ...) before the application is served",
)


def find_signature(request: Request[Any, Any]) -> VerifiedSignature | None:
    """Return the verified signature of a request, or None if it is unsigned.

    Raises:
        ConfigurationError: nothing has verified it.
    """
    return PUBLISHED.find(request)


def verified_signature(request: Request[Any, Any]) -> VerifiedSignature:
    """Return the verified signature of a request.

    Raises:
        SignatureRequired: the request is unsigned. Sanic answers 401.
        ConfigurationError: nothing has verified it.
    """
    try:
        return PUBLISHED.require(request)
    except SignatureError as error:
        raise SignatureRequired(error) from None


def signature_required(
    handler: Callable[Concatenate[Request[Any, Any], Parameters], object],
) -> Callable[Concatenate[Request[Any, Any], Parameters], Coroutine[Any, Any, Any]]:
    """Let a handler run only for a signed request. An unsigned one raises `SignatureRequired`.

    Sanic accepts a WebSocket handshake before its handler runs, so an unsigned one is accepted and then closed. To
    answer 401, call `verified_signature` in a middleware (`on_request`) of the blueprint.

    Args:
        handler: the function of a request, sync or async. In a class, use `decorators = [signature_required]`.

    Returns:
        The guarded handler.

    Raises:
        ConfigurationError: `handler` is not a function; or, during a request, nothing has verified it.
    """
    if isinstance(handler, type) or not callable(handler):
        raise ConfigurationError("signature_required: decorate a function; in a class, use decorators = [...]")

    @wraps(handler)
    async def guard(request: Request[Any, Any], /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> object:
        verified_signature(request)
        answer = handler(request, *args, **kwargs)
        return await answer if isawaitable(answer) else answer

    return guard

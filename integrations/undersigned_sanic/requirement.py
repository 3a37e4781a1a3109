"""The requirement of a signature for a handler, and the exceptions that become answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from sanic import Blueprint, Request
from sanic.exceptions import SanicException, Unauthorized

from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned import SignatureError

Handler = TypeVar("Handler", bound="Blueprint | Callable[..., object]")


class Rejected(SanicException):
    """Raised to answer a request that is rejected."""

    quiet = True

    def __init__(self, answer: ErrorResponse) -> None:
        super().__init__("the request is rejected", status_code=answer.status)
        self.answer = answer


class SignatureRequired(Unauthorized):
    """The 401 for an unsigned request, with the code as its message; `error` is the reason, for the log.

    Handlers of `Unauthorized` and `SanicException` get it. Without one, Sanic answers it as any other.
    """

    quiet = True

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.code, headers=answer.headers)  # pyright: ignore[reportUnknownMemberType]
        self.status_code, self.error = answer.status, error


PUBLISHED = Published[Request[Any, Any]](
    # Sanic has a scope on an ASGI server only.
    lambda request: cast("dict[str, Any]", request.scope if request.app.asgi else vars(request.ctx)),
    error=lambda _request, error: SignatureRequired(error),
    route=lambda request: None if request.route is None else f"/{request.route.path}",
    advice="call Undersigned(app, ...) before the application is served, and set config.TOUCHUP = False for every "
    "application of a process that has several, or Sanic verifies nothing",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(handler: Handler) -> Handler:
    """Let a handler, or every handler of a blueprint, run only for a signed request.

    An unsigned one raises `SignatureRequired`. The guard of a blueprint lets CORS preflights pass, because no browser
    signs them. Sanic accepts a WebSocket handshake before its handler runs, so an unsigned one is accepted and then
    closed; in a blueprint that is guarded, it gets 401.

    Args:
        handler: the function of a request, sync or async, or the blueprint. In a class, use
            `decorators = [signature_required]`.

    Raises:
        ConfigurationError: `handler` is neither; or, during a request, nothing has verified it.
    """
    if isinstance(handler, Blueprint):
        handler.on_request(_require_in_blueprint)  # pyright: ignore[reportUnknownMemberType]
        return cast("Handler", handler)
    return PUBLISHED.guarded(handler, decorate="a function or a blueprint; in a class, use decorators = [...]")


async def _require_in_blueprint(request: Request[Any, Any]) -> None:
    if not PUBLISHED.admission(request).received.is_preflight:
        verified_signature(request)

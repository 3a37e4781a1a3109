"""The requirement of a signature for a handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from litestar.exceptions import NotAuthorizedException

from undersigned import SignatureError
from undersigned.asgi import ADMISSION
from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from litestar.connection import ASGIConnection
    from litestar.handlers import BaseRouteHandler

    from undersigned import VerifiedSignature


class SignatureRequired(NotAuthorizedException):
    """Raised when a handler requires a signature and the request is unsigned: a 401 with the code as its `detail`.

    Handlers of `NotAuthorizedException` and `HTTPException` get it. Without one, Litestar answers it as any other.

    Attributes:
        error: the reason, for the log; `error.code` is the code that the caller gets.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(detail=answer.code, status_code=answer.status, headers=dict(answer.headers))
        self.error = error


def scope_of(connection: ASGIConnection[Any, Any, Any, Any]) -> dict[str, Any]:
    """Return the scope of a request or handshake."""
    return cast("dict[str, Any]", connection.scope)


PUBLISHED = Published["ASGIConnection[Any, Any, Any, Any]"](
    lambda connection: scope_of(connection).get(ADMISSION),
    route=lambda connection: scope_of(connection).get("path_template"),
    advice="call SignatureMiddleware(app, ...) before the application is served",
)


def find_signature(connection: ASGIConnection[Any, Any, Any, Any]) -> VerifiedSignature | None:
    """Return the verified signature of a request or handshake, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return PUBLISHED.find(connection)


def verified_signature(connection: ASGIConnection[Any, Any, Any, Any]) -> VerifiedSignature:
    """Return the verified signature of a request or handshake.

    Raises:
        SignatureRequired: it is unsigned. Litestar answers 401.
        ConfigurationError: no middleware has verified it.
    """
    try:
        return PUBLISHED.require(connection)
    except SignatureError as error:
        raise SignatureRequired(error) from None


def signature_required(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
    """Let a handler run only for a signed request: `@post(guards=[signature_required])`, or of a router or application.

    A CORS preflight passes, because no browser signs it.

    Raises:
        SignatureRequired: the request is unsigned.
        ConfigurationError: no middleware has verified it.
    """
    if not PUBLISHED.admission(connection).received.is_preflight:
        verified_signature(connection)

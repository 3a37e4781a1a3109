"""The requirement of a signature for a handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from litestar.exceptions import NotAuthorizedException

from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from litestar.connection import ASGIConnection
    from litestar.handlers import BaseRouteHandler

    from undersigned import SignatureError


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
    scope_of,
    error=lambda _connection, error: SignatureRequired(error),
    route=lambda connection: scope_of(connection).get("path_template"),
    advice="call SignatureMiddleware(app, ...) before the application is served",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Let a handler run only for a signed request: `@post(guards=[signature_required])`, or of a router or application.

    OPTIONS passes where Litestar answers it by itself, because no browser signs a CORS preflight.

    Raises:
        SignatureRequired: the request is unsigned.
        ConfigurationError: no middleware has verified it.
    """
    answers_itself = handler.fn.__module__.partition(".")[0] == "litestar"
    if not (answers_itself and scope_of(connection).get("method") == "OPTIONS"):
        verified_signature(connection)

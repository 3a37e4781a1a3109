"""The requirement of a signature for an endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from starlette.exceptions import HTTPException, WebSocketException
from starlette.requests import HTTPConnection

from undersigned import ConfigurationError, SignatureError
from undersigned.asgi import is_closed_only
from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.asgi import Scope

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_POLICY_VIOLATION = 1008


class SignatureRequired(HTTPException):
    """Raised when an endpoint requires a signature and the request is unsigned: a 401 with the code as its `detail`.

    Handlers of `HTTPException` and of the status 401 get it. Without one, Starlette and FastAPI answer it as any other
    `HTTPException`. Its `headers` have WWW-Authenticate and Accept-Signature, if the profile sends them.

    Attributes:
        error: the reason, for the log; `error.code` is the code that the caller gets.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.status, answer.code, answer.headers)
        self.error = error


def rejection(scope: Scope, error: SignatureError) -> SignatureRequired | WebSocketException:
    """Return the exception that rejects a request, or that closes a handshake which the server cannot answer."""
    if is_closed_only(scope):
        return WebSocketException(_POLICY_VIOLATION, error.code)
    return SignatureRequired(error)


def _route(connection: HTTPConnection) -> str | None:
    """Return the path of the route, which FastAPI and newer versions of Starlette publish."""
    path: object = getattr(connection.scope.get("route"), "path", None)
    return path if isinstance(path, str) else None


PUBLISHED = Published[HTTPConnection](
    lambda connection: connection.scope,
    error=lambda connection, error: rejection(connection.scope, error),
    route=_route,
    advice="put SignatureMiddleware outside the application, with verifier= and origins=",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(endpoint: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let an endpoint run only for a signed request. `verified_signature(request)` returns it.

    Put the decorator below the one that adds the route. An endpoint is a function, a method of an HTTPEndpoint, or a
    WebSocket function. An unsigned request or handshake raises `SignatureRequired`, which becomes a 401. If the server
    cannot send a response to a handshake, the handshake is closed with code 1008.

    Args:
        endpoint: the function, sync or async. It must be called with the request.

    Returns:
        The guarded endpoint, sync or async as it was.

    Raises:
        ConfigurationError: `endpoint` is not a function; or, during a request, no middleware has verified it.
    """
    return PUBLISHED.guarded(
        endpoint, decorate="a function, or the methods of an HTTPEndpoint and not the class", request_of=_connection
    )


def _connection(*args: object, **kwargs: object) -> HTTPConnection:
    """Return the request or handshake that an endpoint is called with."""
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, HTTPConnection):
            return cast("HTTPConnection", argument)
    raise ConfigurationError(
        "signature_required: the endpoint is called without its request; give it a request: Request parameter, or in "
        "FastAPI use the dependency Depends(signature_required) instead of the decorator"
    )

"""The requirement of a signature for an endpoint."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from starlette.exceptions import HTTPException, WebSocketException
from starlette.requests import HTTPConnection

from undersigned import ConfigurationError, SignatureError, VerifiedSignature
from undersigned.asgi import find_signature as _find_signature
from undersigned.asgi import required_signature
from undersigned.middleware import ErrorResponse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

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


def find_signature(connection: HTTPConnection) -> VerifiedSignature | None:
    """Return the verified signature of a request or handshake, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return _find_signature(connection.scope)


def verified_signature(connection: HTTPConnection) -> VerifiedSignature:
    """Return the verified signature of a request or handshake.

    Raises:
        SignatureRequired: it is unsigned.
        WebSocketException: it is an unsigned handshake, and the server cannot send a response to one. Starlette closes
            it with code 1008.
        ConfigurationError: no middleware has verified it.
    """
    try:
        return required_signature(connection.scope, route=_route(connection))
    except SignatureError as error:
        raise rejection(connection.scope, error) from None


def signature_required(endpoint: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let an endpoint run only for a signed request. The endpoint finds the signature in `request.state.signature`.

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
    if isinstance(endpoint, type) or not callable(endpoint):
        raise ConfigurationError(
            "signature_required: decorate a function, or the methods of an HTTPEndpoint and not the class"
        )
    guarded = _guard_async(endpoint) if inspect.iscoroutinefunction(endpoint) else _guard(endpoint)
    return cast("Callable[Parameters, Result]", guarded)


def _guard(endpoint: Callable[..., object]) -> Callable[..., object]:
    @wraps(endpoint)
    def guard(*args: object, **kwargs: object) -> object:
        verified_signature(_connection(args, kwargs))
        return endpoint(*args, **kwargs)

    return guard


def _guard_async(endpoint: Callable[..., Awaitable[object]]) -> Callable[..., object]:
    @wraps(endpoint)
    async def guard(*args: object, **kwargs: object) -> object:
        verified_signature(_connection(args, kwargs))
        return await endpoint(*args, **kwargs)

    return guard


def _connection(args: tuple[object, ...], kwargs: dict[str, object]) -> HTTPConnection:
    """Return the request or handshake that an endpoint is called with."""
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, HTTPConnection):
            return cast("HTTPConnection", argument)
    raise ConfigurationError(
        "signature_required: the endpoint is called without its request; give it a request: Request parameter, or in "
        "FastAPI use the dependency Depends(signature_required) instead of the decorator"
    )


def _route(connection: HTTPConnection) -> str | None:
    """Return the path of the route, which FastAPI and newer versions of Starlette publish."""
    path: object = getattr(connection.scope.get("route"), "path", None)
    return path if isinstance(path, str) else None


def rejection(scope: Scope, error: SignatureError) -> SignatureRequired | WebSocketException:
    """Return the exception that rejects a request, or that closes a handshake which the server cannot answer."""
    if scope["type"] == "websocket" and "websocket.http.response" not in (scope.get("extensions") or {}):
        return WebSocketException(_POLICY_VIOLATION, error.code)
    return SignatureRequired(error)

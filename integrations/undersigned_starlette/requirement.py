"""The requirement of a signature for an endpoint."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.websockets import WebSocket

from undersigned import ConfigurationError, SignatureError, VerifiedSignature
from undersigned.asgi import required_signature
from undersigned.middleware import ErrorResponse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_HANDLERS = "starlette.exception_handlers"
_POLICY_VIOLATION = 1008
_TOLD = frozenset({"WWW-Authenticate", "Accept-Signature"})


class SignatureRequired(HTTPException):
    """Raised when an endpoint requires a signature and the request is unsigned. The response is a 401 with the code.

    An application may have its own handler for this class.

    Attributes:
        error: the reason, for the log; `error.code` is the code that the caller gets.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.status, error.code, {name: value for name, value in answer.fields if name in _TOLD})
        self.error = error


def verified_signature(connection: HTTPConnection) -> VerifiedSignature:
    """Return the verified signature of a request or handshake.

    Raises:
        SignatureRequired: it is unsigned. Starlette answers it with 401 and the code in JSON, or closes the handshake.
        ConfigurationError: no middleware has verified it.
    """
    try:
        return required_signature(connection.scope, route=_route(connection))
    except SignatureError as error:
        handlers = connection.scope.get(_HANDLERS)
        if handlers is not None:
            # Starlette's own handler would answer in plain text, and FastAPI's would put the code under "detail".
            handlers[0].setdefault(SignatureRequired, _handler)
        raise SignatureRequired(error) from None


def signature_required(endpoint: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let an endpoint run only for a signed request. The endpoint finds the signature in `request.state.signature`.

    Put the decorator below the one that adds the route. An endpoint is a function, a method of an HTTPEndpoint, or a
    WebSocket function. An unsigned request or handshake gets 401 with `{"error": "request_signature_required"}`. If the
    server cannot send a response to a handshake, the handshake is closed with code 1008.

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
        try:
            connection = _connection(args, kwargs)
            required_signature(connection.scope, route=_route(connection))
        except SignatureError as error:
            return _response(error)
        return endpoint(*args, **kwargs)

    return guard


def _guard_async(endpoint: Callable[..., Awaitable[object]]) -> Callable[..., object]:
    @wraps(endpoint)
    async def guard(*args: object, **kwargs: object) -> object:
        connection = _connection(args, kwargs)
        try:
            required_signature(connection.scope, route=_route(connection))
        except SignatureError as error:
            return await reject(connection, error)
        return await endpoint(*args, **kwargs)

    return guard


def _connection(args: tuple[object, ...], kwargs: dict[str, object]) -> HTTPConnection:
    """Return the request or handshake that an endpoint is called with."""
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, HTTPConnection):
            return cast("HTTPConnection", argument)
    raise ConfigurationError(
        "signature_required: the endpoint is called without its request; give it a request: Request parameter, or in "
        "FastAPI use the dependency Depends(require_signature) instead of the decorator"
    )


def _route(connection: HTTPConnection) -> str | None:
    """Return the path of the route, which FastAPI and newer versions of Starlette publish."""
    path: object = getattr(connection.scope.get("route"), "path", None)
    return path if isinstance(path, str) else None


def _response(error: SignatureError) -> Response:
    rejection = ErrorResponse.of(error)
    return Response(rejection.body, rejection.status, dict(rejection.fields))


async def _handler(connection: HTTPConnection, required: SignatureRequired) -> Response | None:
    return await reject(connection, required.error)


async def reject(connection: HTTPConnection, error: SignatureError) -> Response | None:
    """Return the response to a request. Answer a handshake here, or close it if the server cannot answer it."""
    if not isinstance(connection, WebSocket):
        return _response(error)
    if "websocket.http.response" in (connection.scope.get("extensions") or {}):
        await connection.send_denial_response(_response(error))
    else:
        await connection.close(_POLICY_VIOLATION)
    return None

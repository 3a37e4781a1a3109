"""The requirement: an endpoint that runs only where the middleware has verified a signature."""

# No `from __future__ import annotations`: FastAPI reads the dependency's annotations when it is declared.
import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar, cast, overload

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.websockets import WebSocket

from undersigned import ConfigurationError, Profile, SignatureError, VerifiedSignature, profiles
from undersigned.asgi import PROFILE
from undersigned.middleware import ErrorResponse, log_rejection

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_HANDLERS = "starlette.exception_handlers"
_POLICY_VIOLATION = 1008


class SignatureRequired(HTTPException):
    """An unsigned request came to an endpoint that needs a signature; answered 401 with the code and nothing more.

    An application that has its own handler for this class, or for status 401, answers by that one instead.

    Attributes:
        error: what the checklist says, for the log; `error.code` is the code the caller hears.
    """

    def __init__(self, error: SignatureError) -> None:
        super().__init__(401, error.code, {"WWW-Authenticate": f'Signature error="{error.code}"'})
        self.error = error


class RequireSignature:
    """Lets an endpoint run only for a signed request; `require_signature` is one, and one is enough.

    As a FastAPI dependency it gives the signature:

        async def buy(signature: Annotated[VerifiedSignature, Depends(require_signature)]) -> ...

    As a decorator, below `@app.route` and its like, it guards a Starlette endpoint: a function, a method of an
    HTTPEndpoint, or a WebSocket function. The endpoint finds the signature in `request.state.signature`.

    An unsigned request is answered 401, `WWW-Authenticate: Signature error="request_signature_required"` and
    `{"error": "request_signature_required"}`; a handshake likewise, or by close code 1008 where the server cannot.
    """

    def __init__(self) -> None:
        # FastAPI looks at the instance to learn what to pass and whether to await: with both names on it, it finds
        # a coroutine function that wants the connection, and needs no thread to ask for a value that is there.
        vars(self).update(__call__=_dependency, __signature__=inspect.signature(_dependency))

    @overload
    def __call__(self, connection: HTTPConnection, /) -> Awaitable[VerifiedSignature]: ...

    @overload
    def __call__(self, endpoint: Callable[Parameters, Result], /) -> Callable[Parameters, Result]: ...

    def __call__(self, connection: object) -> object:
        """Ask for the signature of a request or handshake, or guard an endpoint.

        Args:
            connection: the request or handshake, or the endpoint.

        Returns:
            An awaitable of the signature, or the guarded endpoint, sync or async as it was.

        Raises:
            ConfigurationError: neither a connection nor a function was given; or, once awaited, no middleware has
                judged the request.
            SignatureRequired: once awaited, for an unsigned request.
        """
        if isinstance(connection, HTTPConnection):
            return _dependency(cast("HTTPConnection", connection))
        if isinstance(connection, type) or not callable(connection):
            raise ConfigurationError(
                "require_signature: decorate a function, or the methods of an HTTPEndpoint and not the class"
            )
        return _guarded(connection)


async def _dependency(connection: HTTPConnection) -> VerifiedSignature:
    signature = _signature(connection)
    if signature is not None:
        return signature
    handlers = connection.scope.get(_HANDLERS)
    if handlers is not None:
        # Starlette's own handler would answer in plain text, and FastAPI's put the code under "detail".
        handlers[0].setdefault(SignatureRequired, _handler)
    raise SignatureRequired(_unsigned(connection))


async def _handler(connection: HTTPConnection, required: SignatureRequired) -> Response | None:
    return await _refused(connection, required.error)


def _guarded(endpoint: Callable[..., object]) -> Callable[..., object]:
    if not inspect.iscoroutinefunction(endpoint):

        @wraps(endpoint)
        def guarded(*args: object, **kwargs: object) -> object:
            connection = _connection(args, kwargs)
            if _signature(connection) is None:
                return _response(_unsigned(connection))
            return endpoint(*args, **kwargs)

        return guarded

    @wraps(endpoint)
    async def guarded_async(*args: object, **kwargs: object) -> object:
        connection = _connection(args, kwargs)
        if _signature(connection) is None:
            return await _refused(connection, _unsigned(connection))
        return await endpoint(*args, **kwargs)

    return guarded_async


def _connection(args: tuple[object, ...], kwargs: dict[str, object]) -> HTTPConnection:
    """Return the request or handshake an endpoint is called with: the first argument, or the second of a method."""
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, HTTPConnection):
            return cast("HTTPConnection", argument)
    raise ConfigurationError(
        "require_signature: the endpoint is called without its request; give it a request: Request parameter, or in "
        "FastAPI a parameter Annotated[VerifiedSignature, Depends(require_signature)] instead of the decorator"
    )


def _signature(connection: HTTPConnection) -> VerifiedSignature | None:
    """Return what the middleware found: a signature, or None for an unsigned request."""
    judged = connection.scope.get("state", {}).get("signature", _signature)
    if judged is None or isinstance(judged, VerifiedSignature):
        return judged
    raise ConfigurationError(
        "require_signature: no middleware has judged this request; add it, after every other: "
        "app.add_middleware(SignatureMiddleware, verifier=..., origins=[...])"
    )


def _unsigned(connection: HTTPConnection) -> SignatureError:
    # Where undersigned.asgi's own middleware wraps the application the profile is not told, and requests are judged.
    profile: Profile = connection.scope.get(PROFILE, profiles.ADCP_3_2)
    error = profile.error("signature_required", step=0, detail="the endpoint requires a signature; there is none")
    log_rejection(error)
    return error


def _response(error: SignatureError) -> Response:
    refusal = ErrorResponse.of(error)
    return Response(refusal.body, refusal.status, dict(refusal.fields))


async def _refused(connection: HTTPConnection, error: SignatureError) -> Response | None:
    """Return the answer to a request; a handshake is answered here, or closed where the server knows no answer."""
    if not isinstance(connection, WebSocket):
        return _response(error)
    if "websocket.http.response" in (connection.scope.get("extensions") or {}):
        await connection.send_denial_response(_response(error))
    else:
        await connection.close(_POLICY_VIOLATION)
    return None

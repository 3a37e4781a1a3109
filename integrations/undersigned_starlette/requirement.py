"""The requirement of a signature for an endpoint, the authentication backend, and the route of the public keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from starlette.authentication import AuthCredentials, AuthenticationBackend, BaseUser
from starlette.exceptions import HTTPException, WebSocketException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route

from undersigned.asgi import Scope, is_closed_only
from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned import SignatureError, VerifiedSignature
    from undersigned.publishing import PublishedKeys

Endpoint = TypeVar("Endpoint", bound="Callable[..., object]")

_POLICY_VIOLATION = 1008


class SignatureRequired(HTTPException):
    """The 401 for an unsigned request, with the code as its `detail`; `error` is the reason, for the log.

    Handlers of `HTTPException` and of the status 401 get it. Without one, Starlette and FastAPI answer it as any other
    `HTTPException`. Its `headers` have WWW-Authenticate and Accept-Signature, if the profile sends them.
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
    is_request=lambda argument: isinstance(argument, HTTPConnection),
    error=lambda connection, error: rejection(connection.scope, error),
    route=_route,
    advice="put SignatureMiddleware outside the application, with verifier= and origins=",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(endpoint: Endpoint) -> Endpoint:
    """Let an endpoint run only for a signed request. `verified_signature(request)` returns it.

    Put the decorator below the one that adds the route. An endpoint is a function, a method of an HTTPEndpoint, or a
    WebSocket function. An unsigned request or handshake raises `SignatureRequired`, which becomes a 401. If the server
    cannot send a response to a handshake, the handshake is closed with code 1008.

    Args:
        endpoint: the function, sync or async. It must be called with the request.

    Raises:
        ConfigurationError: `endpoint` is not a function; or, during a request, no middleware has verified it.
    """
    return PUBLISHED.guarded(endpoint, decorate="a function, or the methods of an HTTPEndpoint and not the class")


class SignedUser(BaseUser):
    """A caller who is identified by a key.

    Attributes:
        signature: the verified signature.
    """

    def __init__(self, signature: VerifiedSignature) -> None:
        self.signature = signature

    @property
    def is_authenticated(self) -> bool:
        """Always True."""
        return True

    @property
    def display_name(self) -> str:
        """The signer as the key source names it, or the key ID if it does not, which changes with a rotation."""
        return self.signature.signer or self.signature.keyid

    @property
    def identity(self) -> str:
        """The same."""
        return self.display_name


class SignatureBackend(AuthenticationBackend):
    """A backend for Starlette's `AuthenticationMiddleware`: `request.user` is the `SignedUser` of a signed request.

    `request.auth` then has the scope `signed`, for the decorator `requires("signed")`. An unsigned request has an
    unauthenticated user and no scope. Put `SignatureMiddleware` outside.
    """

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, SignedUser] | None:
        """Return the credentials and the user of a signed request, or None.

        Raises:
            ConfigurationError: no middleware has verified the request.
        """
        signature = find_signature(conn)
        return None if signature is None else (AuthCredentials(["signed"]), SignedUser(signature))


def jwks_route(published: PublishedKeys, path: str | None = None) -> Route:
    """Return a route that serves public keys: `Starlette(routes=[jwks_route(PublishedKeys("keys/public.jwks.json"))])`.

    In FastAPI: `app.routes.append(jwks_route(...))`. Receivers do not sign their request for it, so let unsigned
    requests pass: with `mode="optional"` or a policy.

    Args:
        published: a `PublishedKeys` or `PublishedDirectory` of `undersigned.publishing`.
        path: the path of the route, if it is another than `published.path`.
    """

    async def jwks(request: Request) -> Response:
        response = published.response(request.method)
        return Response(response.body, headers=dict(response.fields))

    return Route(path or published.path, jwks, methods=["GET"])

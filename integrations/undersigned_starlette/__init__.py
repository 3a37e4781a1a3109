"""HTTP message signatures for Starlette: `SignatureMiddleware` verifies, and `signature_required` guards endpoints.

`SignatureBackend` makes the caller `request.user`, for Starlette's `AuthenticationMiddleware`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from undersigned.asgi import SignatureMiddleware
from undersigned.errors import needs_extra

with needs_extra("starlette"):
    from starlette.authentication import AuthCredentials, AuthenticationBackend, SimpleUser
    from starlette.responses import Response
    from starlette.routing import Route

    from .routes import PUBLISHED, RouteResolver, SignatureRequired, find_signature, verified_signature

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import HTTPConnection, Request

    from undersigned import VerifiedSignature
    from undersigned.publishing import PublishedKeys

__all__ = [
    "RouteResolver",
    "SignatureBackend",
    "SignatureMiddleware",
    "SignatureRequired",
    "SignedUser",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

Endpoint = TypeVar("Endpoint", bound="Callable[..., object]")


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


class SignedUser(SimpleUser):
    """A caller who is identified by a key.

    Attributes:
        signature: the verified signature.
        display_name: the signer as the key source names it, or else the key ID, which changes with a rotation.
    """

    def __init__(self, signature: VerifiedSignature) -> None:
        super().__init__(signature.signer or signature.keyid)
        self.signature = signature

    @property
    def identity(self) -> str:
        """The same as `display_name`."""
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

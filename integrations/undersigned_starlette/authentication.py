"""The authentication backend: the signature of a request as its user and credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.authentication import AuthCredentials, AuthenticationBackend, BaseUser

from .requirement import find_signature

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from undersigned import VerifiedSignature


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

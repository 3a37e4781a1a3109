"""The authentication class for Django REST framework."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from rest_framework.authentication import BaseAuthentication

from .requirement import route, verification
from .settings import configured

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.request import Request

    from undersigned import VerifiedSignature


_UNSIGNED = "the view requires an authenticated caller; the request has no signature"
_UNKNOWN = 'the view requires an authenticated caller; UNDERSIGNED["USER"] knows none for this key'


@dataclass(frozen=True, slots=True)
class SignedCaller:
    """A caller who is identified by a key, not by a user in the database.

    Attributes:
        keyid: the key id of the signature.
    """

    keyid: str
    is_authenticated: bool = True
    is_anonymous: bool = False
    is_active: bool = True


class SignatureAuthentication(BaseAuthentication):
    """An authentication class: `request.user` is the caller, and `request.auth` the verified signature.

    The user is a `SignedCaller`, or what the function `UNDERSIGNED["USER"]` returns for the signature; if it returns
    None, the request is not authenticated. An unsigned request is left to the next authentication class.

    List it first: REST framework asks only the first class for the challenge. If the view then answers 401, that
    rejection is a `Decision`.
    """

    def authenticate(self, request: Request) -> tuple[object, VerifiedSignature] | None:
        """Return the caller and the signature, or None if the request is unsigned or its caller unknown."""
        signature = verification(request._request).signature  # noqa: SLF001 - as REST framework documents it
        if signature is None:
            return None
        user = cast("Callable[[VerifiedSignature], object]", configured().get("USER") or _caller)(signature)
        return None if user is None else (user, signature)

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge for WWW-Authenticate, so that an unsigned request gets 401 and not 403.

        REST framework asks for it once it has decided to answer 401, so that rejection is recorded here.
        """
        rejected = request._request  # noqa: SLF001 - as above
        published = verification(rejected)
        detail = _UNSIGNED if published.signature is None else _UNKNOWN
        error = published.profile.error("signature_required", step=0, detail=detail)
        published.reject(error, method=rejected.method, route=route(rejected))
        return f'Signature error="{error.code}"'


def _caller(signature: VerifiedSignature) -> SignedCaller:
    return SignedCaller(signature.keyid)

"""The authentication class and the permission class for Django REST framework."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from undersigned.errors import needs_extra
from undersigned.message import write_challenge
from undersigned.middleware import ErrorResponse

from .requirement import PUBLISHED, note_denial, read_setting

with needs_extra("drf"):
    from rest_framework.authentication import BaseAuthentication
    from rest_framework.permissions import BasePermission

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.request import Request
    from rest_framework.views import APIView

    from undersigned import VerifiedSignature


_UNSIGNED = "the view requires an authenticated caller; the request has no signature"
_REQUIRED = "the view requires a signed request; the request has no signature"
_UNKNOWN = 'the view requires an authenticated caller; UNDERSIGNED["USER"] knows none for this key'


@dataclass(frozen=True, slots=True)
class SignedCaller:
    """A caller who is identified by a key, not by a user in the database.

    Attributes:
        keyid: the key ID of the signature. Another signer may have a key with the same key ID.
        signer: the owner of the key by the key source, or "" if the source does not say.
    """

    keyid: str
    is_authenticated: bool = True
    is_anonymous: bool = False
    is_active: bool = True
    signer: str = field(default="", kw_only=True)


class SignatureAuthentication(BaseAuthentication):
    """An authentication class: `request.user` is the caller, and `request.auth` the verified signature.

    The user is a `SignedCaller`, or whatever your `UNDERSIGNED["USER"]` returns for the signature; if it returns
    None, the request is not authenticated. An unsigned request is left to the next authentication class.

    List it first: REST framework asks only the first class for the challenge, and answers 403 without one. If no other
    class authenticates the request, and the view answers 401 or 403, that rejection is a `Decision`.
    """

    def authenticate(self, request: Request) -> tuple[object, VerifiedSignature] | None:
        """Return the caller and the signature, or None if the request is unsigned or its caller unknown."""
        signature = PUBLISHED.find_signature(request._request)  # noqa: SLF001 - as REST framework documents it
        if signature is not None:
            named = cast("Callable[[VerifiedSignature], object] | None", read_setting().get("USER"))
            user = SignedCaller(signature.keyid, signer=signature.signer) if named is None else named(signature)
            if user is not None:
                return user, signature
        detail = _UNSIGNED if signature is None else _UNKNOWN
        note_denial(request._request, detail, lambda: request.successful_authenticator is None)  # noqa: SLF001
        return None

    def authenticate_header(self, request: Request) -> str | None:
        """Return the challenge for WWW-Authenticate: an unsigned request gets 401, or 403 if the profile says so."""
        profile = PUBLISHED.admission(request._request).profile  # noqa: SLF001 - as above
        answer = ErrorResponse.of(profile.error("signature_required", step=0, detail=_UNSIGNED))
        return None if answer.status == HTTPStatus.FORBIDDEN else write_challenge(answer.code)


class IsSigned(BasePermission):
    """A permission class that lets only signed requests pass, however their caller is authenticated.

    If it rejects an unsigned request, and the view answers 401 or 403, that rejection is a `Decision`.
    """

    message = "The request must be signed."

    def has_permission(self, request: Request, view: APIView) -> bool:  # noqa: ARG002 - as REST framework calls it
        """Return whether the request is signed."""
        asked = request._request  # noqa: SLF001 - as above
        if PUBLISHED.find_signature(asked) is not None:
            return True
        note_denial(asked, _REQUIRED)
        return False

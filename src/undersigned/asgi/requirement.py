"""The signature of a request, as an ASGI application finds or requires it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.asgi.middleware import PROFILE, RECORDER
from undersigned.middleware.requirement import Verification

if TYPE_CHECKING:
    from undersigned.asgi.interface import Scope
    from undersigned.verification.verified_signature import VerifiedSignature


def find_signature(scope: Scope) -> VerifiedSignature | None:
    """Return the verified signature of a request or handshake, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return _verification(scope).signature


def required_signature(scope: Scope, *, route: str | None = None) -> VerifiedSignature:
    """Return the verified signature of a request or handshake; record the rejection of an unsigned one.

    Args:
        scope: the scope that the middleware passed to the application.
        route: the path of the route as the framework spells it, such as `/plans/{plan}`, for the `Decision`.

    Raises:
        SignatureError: it is unsigned. `undersigned.middleware.ErrorResponse.of` makes the response of it.
        ConfigurationError: no middleware has verified it.
    """
    return _verification(scope).require(method=scope.get("method"), route=route)


def _verification(scope: Scope) -> Verification:
    return Verification.of(scope.get("state", {}).get("signature"), scope.get(PROFILE), scope.get(RECORDER))

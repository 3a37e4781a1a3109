"""The signature of a request, as a WSGI application finds or requires it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.middleware.requirement import Verification
from undersigned.wsgi.middleware import PROFILE, RECORDER, SIGNATURE

if TYPE_CHECKING:
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.wsgi.middleware import Environ


def find_signature(environ: Environ) -> VerifiedSignature | None:
    """Return the verified signature of a request, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return _verification(environ).signature


def required_signature(environ: Environ, *, route: str | None = None) -> VerifiedSignature:
    """Return the verified signature of a request; record the rejection of an unsigned one.

    Args:
        environ: the environ that the middleware passed to the application.
        route: the path of the route as the framework spells it, such as `/plans/{plan}`, for the `Decision`.

    Raises:
        SignatureError: it is unsigned. `undersigned.middleware.ErrorResponse.of` makes the response of it.
        ConfigurationError: no middleware has verified it.
    """
    return _verification(environ).require(method=environ.get("REQUEST_METHOD"), route=route)


def _verification(environ: Environ) -> Verification:
    return Verification.of(environ.get(SIGNATURE), environ.get(PROFILE), environ.get(RECORDER))

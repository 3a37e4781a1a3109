"""HTTP message signatures for Quart: `Undersigned(app, ...)` verifies, `signature_required` guards views."""

from undersigned.errors import needs_extra
from undersigned.policy import RouteResolver

with needs_extra("quart"):
    from .verification import (
        SignatureMiddleware,
        SignatureRequired,
        Undersigned,
        find_signature,
        signature_required,
        verified_signature,
    )

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

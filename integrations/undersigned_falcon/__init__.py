"""HTTP message signatures for Falcon: `SignatureMiddleware(app, ...)` verifies, `signature_required` guards."""

from undersigned.errors import needs_extra
from undersigned.policy import RouteResolver

with needs_extra("falcon"):
    from .verification import (
        SignatureMiddleware,
        SignatureRequired,
        find_signature,
        signature_required,
        verified_signature,
    )

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "find_signature",
    "signature_required",
    "verified_signature",
]

"""HTTP message signatures for Litestar: `SignatureMiddleware(app, ...)` verifies, `signature_required` is a guard."""

from undersigned.errors import needs_extra
from undersigned.policy import RouteResolver

with needs_extra("litestar"):
    from .verification import (
        SignatureMiddleware,
        SignatureRequired,
        document_policy,
        find_signature,
        signature_required,
        verified_signature,
    )

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "document_policy",
    "find_signature",
    "signature_required",
    "verified_signature",
]

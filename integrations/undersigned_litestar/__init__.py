"""HTTP message signatures for Litestar: `SignatureMiddleware(app, ...)` verifies, `signature_required` is a guard."""

from undersigned.errors import missing_extra
from undersigned.policy import RouteResolver

try:
    from .verification import (
        SignatureMiddleware,
        SignatureRequired,
        document_policy,
        find_signature,
        signature_required,
        verified_signature,
    )
except ModuleNotFoundError as missing:
    raise missing_extra("litestar", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "document_policy",
    "find_signature",
    "signature_required",
    "verified_signature",
]

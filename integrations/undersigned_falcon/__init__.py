"""HTTP message signatures for Falcon: `SignatureMiddleware(app, ...)` verifies, `signature_required` guards."""

from undersigned.errors import missing_extra
from undersigned.policy import RouteResolver

try:
    from .verification import (
        SignatureMiddleware,
        SignatureRequired,
        find_signature,
        signature_required,
        verified_signature,
    )
except ModuleNotFoundError as missing:
    raise missing_extra("falcon", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "find_signature",
    "signature_required",
    "verified_signature",
]

"""HTTP message signatures for Quart: `Undersigned(app, ...)` verifies, `signature_required` guards views."""

from undersigned.errors import missing_extra
from undersigned.policy import RouteResolver

try:
    from .verification import (
        SignatureMiddleware,
        SignatureRequired,
        Undersigned,
        find_signature,
        signature_required,
        verified_signature,
    )
except ModuleNotFoundError as missing:
    raise missing_extra("quart", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

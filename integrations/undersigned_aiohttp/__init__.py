"""HTTP message signatures for aiohttp: `SignatureMiddleware` verifies, and `signature_required` guards handlers.

`SigningMiddleware` signs what a `ClientSession` sends.
"""

from undersigned.errors import needs_extra, renamed
from undersigned.policy import RouteResolver

with needs_extra("aiohttp"):
    from .client import SigningMiddleware
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
    "SigningMiddleware",
    "find_signature",
    "signature_required",
    "verified_signature",
]

__getattr__ = renamed(__name__, "signature_middleware", SignatureMiddleware)

"""HTTP message signatures for aiohttp: `SignatureMiddleware` verifies, and `signature_required` guards handlers.

`SigningMiddleware` signs what a `ClientSession` sends.
"""

from undersigned.errors import missing_extra, renamed
from undersigned.policy import RouteResolver

try:
    from .client import SigningMiddleware
    from .verification import (
        SignatureMiddleware,
        SignatureRequired,
        find_signature,
        signature_required,
        verified_signature,
    )
except ModuleNotFoundError as missing:
    raise missing_extra("aiohttp", missing) from missing

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

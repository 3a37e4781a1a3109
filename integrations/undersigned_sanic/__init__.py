"""HTTP message signatures for Sanic's own server: `Undersigned(app, ...)` verifies, `signature_required` guards.

Under another ASGI server, `undersigned.asgi.SignatureMiddleware` is what verifies.
"""

from undersigned.errors import needs_extra, renamed
from undersigned.policy import RouteResolver

with needs_extra("sanic"):
    from .verification import (
        SignatureRequired,
        Undersigned,
        find_signature,
        signature_required,
        verified_signature,
    )

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

__getattr__ = renamed(__name__, "verify_signatures", Undersigned)

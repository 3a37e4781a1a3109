"""HTTP message signatures for Tornado: `Undersigned(app, ...)` verifies, and `signature_required` guards handlers."""

from undersigned.errors import needs_extra, renamed

with needs_extra("tornado"):
    from .routes import RouteResolver
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

__getattr__ = renamed(__name__, "SignatureMiddleware", Undersigned)

"""HTTP message signatures for Tornado: `Undersigned(app, ...)` verifies, and `signature_required` guards handlers."""

from undersigned.errors import needs_extra, renamed

with needs_extra("tornado"):
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
    from .routes import RouteResolver
    from .verification import Undersigned

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

__getattr__ = renamed(__name__, "SignatureMiddleware", Undersigned)

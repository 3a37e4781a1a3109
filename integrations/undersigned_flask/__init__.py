"""HTTP message signatures for Flask: `Undersigned(app, ...)` verifies, and `signature_required` guards views."""

from undersigned.errors import needs_extra

with needs_extra("flask"):
    from .extension import Undersigned, jwks_route
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
    from .routes import RouteResolver

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

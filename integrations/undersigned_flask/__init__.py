"""HTTP message signatures for Flask: `Undersigned(app, ...)` verifies, and `signature_required` guards views."""

from undersigned.errors import needs_extra

with needs_extra("flask"):
    from .routes import RouteResolver
    from .verification import (
        SignatureRequired,
        Undersigned,
        find_signature,
        jwks_route,
        signature_required,
        verified_signature,
    )

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

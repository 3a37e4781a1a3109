"""HTTP message signatures for Flask: `Undersigned(app, ...)` verifies, and `signature_required` guards views."""

from undersigned.errors import missing_extra

try:
    from .extension import Undersigned, jwks_route
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
    from .routes import RouteResolver
except ModuleNotFoundError as missing:
    raise missing_extra("flask", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

"""HTTP message signatures for Starlette: `SignatureMiddleware` verifies, and `signature_required` guards endpoints.

`SignatureBackend` makes the caller `request.user`, for Starlette's `AuthenticationMiddleware`.
"""

from undersigned.errors import needs_extra

with needs_extra("starlette"):
    from undersigned.asgi import SignatureMiddleware

    from .requirement import (
        SignatureBackend,
        SignatureRequired,
        SignedUser,
        find_signature,
        jwks_route,
        signature_required,
        verified_signature,
    )
    from .routes import RouteResolver

__all__ = [
    "RouteResolver",
    "SignatureBackend",
    "SignatureMiddleware",
    "SignatureRequired",
    "SignedUser",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

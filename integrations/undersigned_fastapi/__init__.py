"""HTTP message signatures for FastAPI: `SignatureMiddleware` verifies, and `Signature` is the parameter of an endpoint.

As a dependency, `signature_required` lets an endpoint or a router run only for a signed request.
"""

from undersigned.errors import needs_extra

with needs_extra("fastapi"):
    from undersigned.asgi import SignatureMiddleware
    from undersigned_starlette import SignatureRequired, find_signature, jwks_route, verified_signature

    from .requirement import Signature, document_policy, signature_required
    from .routes import RouteResolver

__all__ = [
    "RouteResolver",
    "Signature",
    "SignatureMiddleware",
    "SignatureRequired",
    "document_policy",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

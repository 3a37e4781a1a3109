"""HTTP message signatures for FastAPI: `SignatureMiddleware` verifies, and `Signature` is the parameter of an endpoint.

As a dependency, `signature_required` lets an endpoint or a router run only for a signed request.
"""

from undersigned.errors import missing_extra

try:
    from undersigned.asgi import SignatureMiddleware
    from undersigned_starlette import SignatureRequired, find_signature, jwks_route, verified_signature

    from .requirement import Signature, document_policy, signature_required
    from .routes import RouteResolver
except ModuleNotFoundError as missing:
    raise missing_extra("fastapi", missing) from missing

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

"""HTTP message signatures for Litestar.

`SignatureMiddleware(app, ...)` verifies. The guard `signature_required` lets a handler, a router or an application run
only for a signed request, and `find_signature` and `verified_signature` return the signature of a request.
"""

from undersigned.errors import missing_extra
from undersigned.policy import RouteResolver

try:
    from .middleware import SignatureMiddleware
    from .openapi import document_policy
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
except ModuleNotFoundError as missing:
    raise missing_extra("litestar", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "document_policy",
    "find_signature",
    "signature_required",
    "verified_signature",
]

"""HTTP message signatures for Falcon, over ASGI and WSGI.

`SignatureMiddleware(app, ...)` verifies. The decorator `signature_required` lets a resource or a responder run only for
a signed request, and `find_signature` and `verified_signature` return the signature of a request.
"""

from undersigned.errors import missing_extra
from undersigned.policy import RouteResolver

try:
    from .middleware import SignatureMiddleware
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
except ModuleNotFoundError as missing:
    raise missing_extra("falcon", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "find_signature",
    "signature_required",
    "verified_signature",
]

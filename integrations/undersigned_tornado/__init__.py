"""HTTP message signatures for Tornado.

`HTTPServer(SignatureMiddleware(app, ...))` verifies. The decorator `signature_required` lets a method of a handler run
only for a signed request. `find_signature` and `verified_signature` return the signature of a request.
"""

from .middleware import SignatureMiddleware
from .requirement import find_signature, signature_required, verified_signature

__all__ = ["SignatureMiddleware", "find_signature", "signature_required", "verified_signature"]

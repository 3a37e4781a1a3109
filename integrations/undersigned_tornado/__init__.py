"""HTTP message signatures for Tornado.

`HTTPServer(SignatureMiddleware(app, ...))` verifies. The decorator `signature_required` lets a method of a handler run
only for a signed request. `find_signature` and `verified_signature` return the signature of a request.
"""

from undersigned.errors import missing_extra

try:
    from .middleware import SignatureMiddleware
    from .requirement import find_signature, signature_required, verified_signature
except ModuleNotFoundError as missing:
    raise missing_extra("tornado", missing) from missing

__all__ = ["SignatureMiddleware", "find_signature", "signature_required", "verified_signature"]

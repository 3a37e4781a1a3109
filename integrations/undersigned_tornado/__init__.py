"""HTTP message signatures for Tornado.

`HTTPServer(Undersigned(app, ...))` verifies. The decorator `signature_required` lets a method of a handler run
only for a signed request. `find_signature` and `verified_signature` return the signature of a request.
"""

from undersigned.errors import missing_extra

try:
    from .middleware import Undersigned
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
except ModuleNotFoundError as missing:
    raise missing_extra("tornado", missing) from missing

__all__ = ["SignatureRequired", "Undersigned", "find_signature", "signature_required", "verified_signature"]

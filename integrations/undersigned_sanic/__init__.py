"""HTTP message signatures for Sanic's own server.

`Undersigned(app, ...)` verifies, the decorator `signature_required` lets a handler run only for a signed request,
and `find_signature` and `verified_signature` return the signature of a request. Under another ASGI server, use
`undersigned.asgi.SignatureMiddleware` instead.
"""

from undersigned.errors import missing_extra

try:
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
    from .verification import Undersigned
except ModuleNotFoundError as missing:
    raise missing_extra("sanic", missing) from missing

__all__ = ["SignatureRequired", "Undersigned", "find_signature", "signature_required", "verified_signature"]

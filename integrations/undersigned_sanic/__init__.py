"""HTTP message signatures for Sanic's own server.

`Undersigned(app, ...)` verifies, the decorator `signature_required` lets a handler run only for a signed request, and
`find_signature` and `verified_signature` return the signature of a request. With `RouteResolver`, a policy decides
about the handler that Sanic has found. Under another ASGI server, `undersigned.asgi.SignatureMiddleware` is
what verifies.
"""

from undersigned.errors import missing_extra, renamed
from undersigned.policy import RouteResolver

try:
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
    from .verification import Undersigned
except ModuleNotFoundError as missing:
    raise missing_extra("sanic", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

__getattr__ = renamed(__name__, "verify_signatures", Undersigned)

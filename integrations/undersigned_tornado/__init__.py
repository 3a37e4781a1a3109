"""HTTP message signatures for Tornado.

`HTTPServer(Undersigned(app, ...))` verifies. The decorator `signature_required` lets a method of a handler run
only for a signed request. `find_signature` and `verified_signature` return the signature of a request. With
`RouteResolver`, a policy decides about the handler that is about to run.
"""

from undersigned.errors import missing_extra, renamed

try:
    from .middleware import Undersigned
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
    from .routes import RouteResolver
except ModuleNotFoundError as missing:
    raise missing_extra("tornado", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

__getattr__ = renamed(__name__, "SignatureMiddleware", Undersigned)

"""HTTP message signatures for Flask.

`Undersigned(app, ...)` verifies, `signature_required` lets a view or a blueprint run only for a signed request, and
`find_signature` and `verified_signature` return the signature of a request. `jwks_route` publishes the keys of this
service or bot. With `RouteResolver`, a policy decides about the view that is about to run.
"""

from undersigned.errors import missing_extra

try:
    from .extension import Undersigned
    from .publishing import jwks_route
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
    from .routes import RouteResolver
except ModuleNotFoundError as missing:
    raise missing_extra("flask", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

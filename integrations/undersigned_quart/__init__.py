"""HTTP message signatures for Quart.

`Undersigned(app, ...)` verifies. `signature_required` lets a view or a blueprint run only for a signed request, and
`find_signature` and `verified_signature` return the signature of a request.
"""

from undersigned.errors import missing_extra
from undersigned.policy import RouteResolver

try:
    from .extension import Undersigned
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
except ModuleNotFoundError as missing:
    raise missing_extra("quart", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

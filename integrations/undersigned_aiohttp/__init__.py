"""HTTP message signatures for aiohttp's server and client.

`SignatureMiddleware` verifies, the decorator `signature_required` lets a handler run only for a signed request, and
`find_signature` and `verified_signature` return the signature of a request. With `RouteResolver`, a policy decides
about the handler that aiohttp has found.

`SigningMiddleware` signs what a `ClientSession` sends.
"""

from undersigned.errors import missing_extra, renamed
from undersigned.policy import RouteResolver

try:
    from .client import SigningMiddleware
    from .middleware import SignatureMiddleware
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
except ModuleNotFoundError as missing:
    raise missing_extra("aiohttp", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "SigningMiddleware",
    "find_signature",
    "signature_required",
    "verified_signature",
]

__getattr__ = renamed(__name__, "signature_middleware", SignatureMiddleware)

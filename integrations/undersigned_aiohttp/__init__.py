"""HTTP message signatures for aiohttp's server.

`signature_middleware` verifies, the decorator `signature_required` lets a handler run only for a signed request, and
`find_signature` and `verified_signature` return the signature of a request.
"""

from .middleware import signature_middleware
from .requirement import find_signature, signature_required, verified_signature

__all__ = ["find_signature", "signature_middleware", "signature_required", "verified_signature"]

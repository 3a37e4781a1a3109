"""HTTP message signatures for Flask.

`Undersigned(app)` verifies, `signature_required` lets a view or a blueprint run only for a signed request, and
`current_signature` is the signature of the request. `jwks_route` publishes the keys of this service.
"""

from .extension import Undersigned
from .publishing import jwks_route
from .requirement import current_signature, signature_required

__all__ = ["Undersigned", "current_signature", "jwks_route", "signature_required"]

"""HTTP message signatures for Flask.

`Undersigned(app)` verifies, `signature_required` lets a view or a blueprint run only for a signed request, and
`current_signature` is the signature of the request. `jwks_route` publishes the keys of this service,
`directory_route` those of a bot. `RouteResolver` finds the operation of a request, for a policy, by asking Flask's
URL map.
"""

from .extension import Undersigned
from .publishing import directory_route, jwks_route
from .requirement import current_signature, signature_required
from .routes import RouteResolver

__all__ = ["RouteResolver", "Undersigned", "current_signature", "directory_route", "jwks_route", "signature_required"]

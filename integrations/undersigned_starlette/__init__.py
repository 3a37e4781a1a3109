"""HTTP message signatures for Starlette.

`SignatureMiddleware` verifies. The decorator `signature_required` lets an endpoint run only for a signed request, and
`verified_signature` returns the signature of a request. `SignatureBackend` makes the caller `request.user`, for
Starlette's `AuthenticationMiddleware`. `jwks_route` publishes the keys of this service.
`RouteResolver` finds the operation of a request, for a policy, by asking the router.
FastAPI has a package of its own, `undersigned_fastapi`.
"""

from undersigned.asgi import SignatureMiddleware

from .authentication import SignatureBackend, SignedUser
from .publishing import jwks_route
from .requirement import SignatureRequired, signature_required, verified_signature
from .routes import RouteResolver

__all__ = [
    "RouteResolver",
    "SignatureBackend",
    "SignatureMiddleware",
    "SignatureRequired",
    "SignedUser",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

"""HTTP message signatures for Starlette.

`SignatureMiddleware` verifies. The decorator `signature_required` lets an endpoint run only for a signed request, and
`verified_signature` returns the signature of a request. `SignatureBackend` makes the caller `request.user`, for
Starlette's `AuthenticationMiddleware`. `jwks_route` publishes the keys of this service or bot. With `RouteResolver`, a
policy decides about the endpoint that is about to run. FastAPI has a package of its own, `undersigned_fastapi`.
"""

from undersigned.errors import missing_extra

try:
    from undersigned.asgi import SignatureMiddleware

    from .authentication import SignatureBackend, SignedUser
    from .publishing import jwks_route
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
    from .routes import RouteResolver
except ModuleNotFoundError as missing:
    raise missing_extra("starlette", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureBackend",
    "SignatureMiddleware",
    "SignatureRequired",
    "SignedUser",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

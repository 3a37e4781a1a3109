"""HTTP message signatures for FastAPI.

`SignatureMiddleware` verifies. The dependency `signature_required` lets an endpoint or a router run only for a signed
request, and shows in the OpenAPI document. `Signature` is `Annotated[VerifiedSignature, Depends(signature_required)]`.
`jwks_route` publishes the keys of this service or bot. With `RouteResolver`, a policy decides about the path operation
function that is about to run, and `document_policy` marks what it requires.
"""

from undersigned.errors import missing_extra

try:
    from undersigned.asgi import SignatureMiddleware
    from undersigned_starlette import SignatureRequired, find_signature, jwks_route, verified_signature

    from .openapi import document_policy
    from .requirement import Signature, signature_required
    from .routes import RouteResolver
except ModuleNotFoundError as missing:
    raise missing_extra("fastapi", missing) from missing

__all__ = [
    "RouteResolver",
    "Signature",
    "SignatureMiddleware",
    "SignatureRequired",
    "document_policy",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

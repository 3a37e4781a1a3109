"""HTTP message signatures for Starlette and FastAPI.

`SignatureMiddleware` verifies, `require_signature` lets an endpoint run only for a signed request: as a FastAPI
dependency, with its security scheme in the OpenAPI document, or as a decorator. `Signature`, there with FastAPI only,
is `Annotated[VerifiedSignature, Depends(require_signature)]`.
"""

from undersigned.asgi import SignatureMiddleware

from .requirement import RequireSignature, SignatureRequired

__all__ = ["RequireSignature", "SignatureMiddleware", "SignatureRequired", "require_signature"]

try:
    from .openapi import Signature, require_signature
except ModuleNotFoundError as missing:
    if missing.name != "fastapi":
        raise
    require_signature = RequireSignature()
else:
    __all__ += ["Signature"]

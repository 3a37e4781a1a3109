"""HTTP message signatures for FastAPI.

`SignatureMiddleware` verifies. The dependency `require_signature` lets an endpoint or a router run only for a signed
request, and shows in the OpenAPI document. `Signature` is `Annotated[VerifiedSignature, Depends(require_signature)]`.
"""

from undersigned.asgi import SignatureMiddleware
from undersigned_starlette import SignatureRequired

from .requirement import Signature, require_signature

__all__ = ["Signature", "SignatureMiddleware", "SignatureRequired", "require_signature"]

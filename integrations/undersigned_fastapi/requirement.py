"""The requirement of a signature as a dependency, with its security scheme in the OpenAPI document."""

# No `from __future__ import annotations`: FastAPI reads the annotations of a dependency when it is declared.
from typing import Annotated

from fastapi import Depends
from fastapi.openapi.models import HTTPBase
from fastapi.security.base import SecurityBase
from starlette.requests import HTTPConnection

from undersigned import VerifiedSignature
from undersigned.middleware import SCHEME
from undersigned_starlette import verified_signature


class SignatureScheme(SecurityBase):
    """A security scheme as FastAPI documents it, which finds the signature of a request."""

    model = HTTPBase(scheme=SCHEME["scheme"], description=SCHEME["description"])
    scheme_name = "Signature"

    async def __call__(self, connection: HTTPConnection) -> VerifiedSignature:
        """Return the signature; for an unsigned request raise `SignatureRequired`."""
        return verified_signature(connection)


async def signature_required(signature: Annotated[VerifiedSignature, Depends(SignatureScheme())]) -> VerifiedSignature:
    """Let an endpoint or a router run only for a signed request: `Depends(signature_required)`.

    An unsigned request or handshake gets 401, as by any `HTTPException`: FastAPI answers `{"detail":
    "request_signature_required"}`, and handlers of `HTTPException` get it. If the server cannot send a response to a
    handshake, the handshake is closed with code 1008.

    Returns:
        The verified signature of the request or handshake.

    Raises:
        SignatureRequired: it is unsigned.
        ConfigurationError: no middleware has verified it.
    """
    return signature


Signature = Annotated[VerifiedSignature, Depends(signature_required)]
"""The signature of the request, as a parameter of a FastAPI endpoint."""

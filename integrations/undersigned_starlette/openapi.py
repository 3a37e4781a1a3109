"""The requirement as FastAPI documents it: an HTTP security scheme of the OpenAPI document. Needs FastAPI."""

from typing import Annotated

from fastapi import Depends
from fastapi.openapi.models import HTTPBase
from fastapi.security.base import SecurityBase

from undersigned import VerifiedSignature

from .requirement import RequireSignature


class DocumentedRequirement(RequireSignature, SecurityBase):
    """`RequireSignature` that FastAPI finds among an operation's dependencies and documents as its security."""

    model = HTTPBase(
        scheme="Signature",
        description="An HTTP message signature (RFC 9421) in the fields Signature-Input and Signature.",
    )
    scheme_name = "Signature"


require_signature: RequireSignature = DocumentedRequirement()

Signature = Annotated[VerifiedSignature, Depends(require_signature)]
"""The signature of the request, as a parameter of a FastAPI endpoint."""

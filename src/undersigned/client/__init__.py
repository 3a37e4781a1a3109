"""Clients: the common part of all client integrations, which signs outgoing requests.

An integration passes the parts of a request to `ClientSigner.sign` and sends the `SignedRequest` that it returns. It
passes content that is not bytes through `ClientSigner.read` first. Nothing here imports a client library or opens a
connection.
"""

from undersigned.client.content import DEFAULT_MAX_SPOOLED, DigestedContent, FileContent, Spool
from undersigned.client.double_knock import AnySigner, DoubleKnock
from undersigned.client.over import SIGNATURE_FIELDS
from undersigned.client.responses import ResponseVerification
from undersigned.client.signed_request import SignedRequest
from undersigned.client.signer import ClientSigner, SignerSource
from undersigned.url.origin import ConfiguredOrigins

__all__ = [
    "DEFAULT_MAX_SPOOLED",
    "SIGNATURE_FIELDS",
    "AnySigner",
    "ClientSigner",
    "ConfiguredOrigins",
    "DigestedContent",
    "DoubleKnock",
    "FileContent",
    "ResponseVerification",
    "SignedRequest",
    "SignerSource",
    "Spool",
]

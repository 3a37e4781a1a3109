"""Clients: the common part of all client integrations, which signs outgoing requests.

Where its library is about to send a request, an integration passes the parts to `ClientSigner.exchange`, with a
function that sends the `SignedRequest`. It passes content that is not bytes through `ClientSigner.read` first. Nothing
here imports a client library or opens a connection.
"""

from undersigned.client.content import UnchangedBody, is_seekable
from undersigned.client.double_knock import DoubleKnock
from undersigned.client.origins import ConfiguredOrigins, ListedOrigins
from undersigned.client.responses import ResponseVerification, VerifiedResponse
from undersigned.client.signer import (
    SIGNATURE_FIELDS,
    BotAuth,
    ClientSigner,
    Headers,
    Received,
    SentContent,
    SignedRequest,
    SignerSource,
    SigningOptions,
)
from undersigned.verification.blocking_calls import finish

__all__ = [
    "SIGNATURE_FIELDS",
    "BotAuth",
    "ClientSigner",
    "ConfiguredOrigins",
    "DoubleKnock",
    "Headers",
    "ListedOrigins",
    "Received",
    "ResponseVerification",
    "SentContent",
    "SignedRequest",
    "SignerSource",
    "SigningOptions",
    "UnchangedBody",
    "VerifiedResponse",
    "finish",
    "is_seekable",
]

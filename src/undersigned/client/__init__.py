"""Clients: the common part of all client integrations, which signs outgoing requests.

An integration passes the parts of each request to `ClientSigner.tries`, where its library is about to send it, and
sends the `SignedRequest` that `Tries.sign` returns. It passes content that is not bytes through `ClientSigner.read`
first. Nothing here imports a client library or opens a connection.
"""

from undersigned.client.bots import BotAuth
from undersigned.client.content import (
    DEFAULT_MAX_SPOOLED,
    FileDigest,
    Sending,
    Spool,
    UnchangedFile,
    digest_file,
    is_seekable,
)
from undersigned.client.double_knock import AnySigner, DoubleKnock
from undersigned.client.responses import ResponseVerification, VerifiedResponse
from undersigned.client.signed_request import SignedRequest
from undersigned.client.signer import (
    SIGNATURE_FIELDS,
    ClientSigner,
    ConfiguredOrigins,
    SignerSource,
    SigningOptions,
    Tries,
)
from undersigned.verification.asking import finish

__all__ = [
    "DEFAULT_MAX_SPOOLED",
    "SIGNATURE_FIELDS",
    "AnySigner",
    "BotAuth",
    "ClientSigner",
    "ConfiguredOrigins",
    "DoubleKnock",
    "FileDigest",
    "ResponseVerification",
    "Sending",
    "SignedRequest",
    "SignerSource",
    "SigningOptions",
    "Spool",
    "Tries",
    "UnchangedFile",
    "VerifiedResponse",
    "digest_file",
    "finish",
    "is_seekable",
]

"""Clients: the common part of all client integrations, which signs outgoing requests.

An integration passes the parts of each request to `ClientSigner.sign`, where its library is about to send it, and sends
the `SignedRequest` that it returns. It passes content that is not bytes through `ClientSigner.read` first. Nothing here
imports a client library or opens a connection.
"""

from undersigned.client.content import DEFAULT_MAX_SPOOLED, FileDigest, Spool, digest_file
from undersigned.client.responses import ResponseVerification
from undersigned.client.signer import SIGNATURE_FIELDS, ClientSigner, ConfiguredOrigins, SignedRequest, SignerSource
from undersigned.client.signers import AnySigner, BotAuth, DoubleKnock

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
    "SignedRequest",
    "SignerSource",
    "Spool",
    "digest_file",
]

"""HTTP message signatures for Python web applications (RFC 9421).

The application sees exactly what was signed and verified. This package imports no framework; the middlewares
are `undersigned.asgi` and `undersigned.wsgi`. Each framework and client has a package of its own, such as
`undersigned_fastapi` and `undersigned_requests`.
"""

from undersigned import asgi, profiles, wsgi
from undersigned.errors import (
    ConfigurationError,
    KeySourceError,
    MalformedSignature,
    MalformedURL,
    SignatureError,
    SignatureRejected,
    SigningError,
    UndersignedError,
    VerificationUnavailable,
)
from undersigned.message.content import Content
from undersigned.message.request import Request
from undersigned.message.response import Response
from undersigned.middleware.decision import Decision
from undersigned.middleware.options import Mode
from undersigned.policy.a2a import A2AResolver
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import Operation, PathResolver
from undersigned.policy.policy import Policy
from undersigned.replay.memory import MemoryReplayStore
from undersigned.replay.sqlite import SqliteReplayStore
from undersigned.replay.store import AsyncReplayStore, Claim, ReplayStore
from undersigned.signature.key_pair import KeyPair
from undersigned.signature.key_source import AsyncKeySource, KeyLookup, KeySet, KeySource
from undersigned.signature.profile import Profile
from undersigned.signature.remote_key import AsyncRemoteKey, KeyReference, RemoteKey
from undersigned.signature.rules import Caps
from undersigned.signature.signer import PreparedSignature, SignedFields, Signer
from undersigned.signature.signing_key import SigningKey
from undersigned.signature.verification_key import VerificationKey
from undersigned.url import CanonicalURL, canonicalize, same_url
from undersigned.verification.revocation_list import AsyncRevocationSource, RevocationList, RevocationSource
from undersigned.verification.verified_signature import VerifiedSignature
from undersigned.verification.verifier import AsyncVerifier, Verifier

__version__ = "0.1.0"

__all__ = [
    "A2AResolver",
    "AsyncKeySource",
    "AsyncRemoteKey",
    "AsyncReplayStore",
    "AsyncRevocationSource",
    "AsyncVerifier",
    "CanonicalURL",
    "Caps",
    "Claim",
    "ConfigurationError",
    "Content",
    "Decision",
    "JSONRPCResolver",
    "KeyLookup",
    "KeyPair",
    "KeyReference",
    "KeySet",
    "KeySource",
    "KeySourceError",
    "MalformedSignature",
    "MalformedURL",
    "MemoryReplayStore",
    "Mode",
    "Operation",
    "PathResolver",
    "Policy",
    "PreparedSignature",
    "Profile",
    "RemoteKey",
    "ReplayStore",
    "Request",
    "Response",
    "RevocationList",
    "RevocationSource",
    "SignatureError",
    "SignatureRejected",
    "SignedFields",
    "Signer",
    "SigningError",
    "SigningKey",
    "SqliteReplayStore",
    "UndersignedError",
    "VerificationKey",
    "VerificationUnavailable",
    "VerifiedSignature",
    "Verifier",
    "asgi",
    "canonicalize",
    "profiles",
    "same_url",
    "wsgi",
]

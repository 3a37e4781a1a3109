"""HTTP message signatures for Python web applications (RFC 9421).

What was signed is what is verified is what the application sees. This package imports no framework; the middlewares
are `undersigned.asgi` and `undersigned.wsgi`, the integrations `undersigned_starlette`, `undersigned_flask`,
`undersigned_requests` and `undersigned_httpx`.
"""

from . import asgi, profiles, wsgi
from .a2a import A2AOperation
from .checklist import VerifiedSignature
from .decision import Decision
from .errors import (
    ConfigurationError,
    MalformedSignature,
    MalformedURL,
    SignatureError,
    SignatureRejected,
    SigningError,
    UndersignedError,
    VerificationUnavailable,
)
from .jsonrpc import JSONRPCOperation
from .keys import KeySet, SigningKey, VerificationKey
from .operation import Operation, PathOperation
from .policy import Policy
from .profile import Profile
from .replay import MemoryReplayStore
from .request import Request
from .revocation import RevocationList
from .sign import SignedFields, Signer
from .url import CanonicalURL, canonicalize, same_url
from .verify import AsyncVerifier, Verifier

__version__ = "0.1.0"

__all__ = [
    "A2AOperation",
    "AsyncVerifier",
    "CanonicalURL",
    "ConfigurationError",
    "Decision",
    "JSONRPCOperation",
    "KeySet",
    "MalformedSignature",
    "MalformedURL",
    "MemoryReplayStore",
    "Operation",
    "PathOperation",
    "Policy",
    "Profile",
    "Request",
    "RevocationList",
    "SignatureError",
    "SignatureRejected",
    "SignedFields",
    "Signer",
    "SigningError",
    "SigningKey",
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

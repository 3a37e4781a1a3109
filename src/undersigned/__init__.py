"""HTTP message signatures for Python web applications (RFC 9421).

What was signed is what is verified is what the application sees. This package imports no framework; the middlewares
are `undersigned.asgi` and `undersigned.wsgi`, the integrations `undersigned_starlette`, `undersigned_flask`,
`undersigned_requests`, `undersigned_httpx` and `undersigned_gevent`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from undersigned import profiles
from undersigned.errors import (
    ConfigurationError,
    MalformedSignature,
    MalformedURL,
    SignatureError,
    SignatureRejected,
    SigningError,
    UndersignedError,
    VerificationUnavailable,
)
from undersigned.message.request import Request
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.keys import KeySet, SigningKey, VerificationKey
from undersigned.signature.profile import Profile
from undersigned.signature.signer import SignedFields, Signer
from undersigned.url import CanonicalURL, canonicalize, same_url
from undersigned.verification.checklist import VerifiedSignature
from undersigned.verification.revocation import RevocationList
from undersigned.verification.verifier import AsyncVerifier, Verifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned import asgi, wsgi
    from undersigned.middleware.decision import Decision
    from undersigned.policy.a2a import A2AOperation
    from undersigned.policy.jsonrpc import JSONRPCOperation
    from undersigned.policy.operation import Operation, PathOperation
    from undersigned.policy.policy import Policy

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

_MODULES: "Mapping[str, str]" = {
    "A2AOperation": "a2a",
    "Decision": "decision",
    "JSONRPCOperation": "jsonrpc",
    "Operation": "operation",
    "PathOperation": "operation",
    "Policy": "policy",
    "asgi": "asgi",
    "wsgi": "wsgi",
}
"""What only servers need, and where it is: imported when it is first asked for."""


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULES[name]}")
    return module if name == _MODULES[name] else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})

"""HTTP message signatures for Python web applications (RFC 9421).

What was signed is what is verified is what the application sees. This package imports no framework; the middlewares
are `undersigned.asgi` and `undersigned.wsgi`, the integrations `undersigned_starlette`, `undersigned_flask`,
`undersigned_requests`, `undersigned_httpx` and `undersigned_gevent`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from . import profiles
from .checklist import VerifiedSignature
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
from .keys import KeySet, SigningKey, VerificationKey
from .profile import Profile
from .replay import MemoryReplayStore
from .request import Request
from .revocation import RevocationList
from .sign import SignedFields, Signer
from .url import CanonicalURL, canonicalize, same_url
from .verify import AsyncVerifier, Verifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from . import asgi, wsgi
    from .a2a import A2AOperation
    from .decision import Decision
    from .jsonrpc import JSONRPCOperation
    from .operation import Operation, PathOperation
    from .policy import Policy

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

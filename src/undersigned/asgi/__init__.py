"""The ASGI middleware: `from undersigned.asgi import SignatureMiddleware`."""

from undersigned.asgi.middleware import (
    OPERATION,
    PROFILE,
    ASGIApp,
    Fallback,
    Message,
    Receive,
    Scope,
    Send,
    SignatureMiddleware,
)

__all__ = [
    "OPERATION",
    "PROFILE",
    "ASGIApp",
    "Fallback",
    "Message",
    "Receive",
    "Scope",
    "Send",
    "SignatureMiddleware",
]

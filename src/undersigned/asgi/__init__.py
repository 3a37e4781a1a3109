"""The ASGI middleware: `from undersigned.asgi import SignatureMiddleware`."""

from undersigned.asgi.interface import ASGIApp, Message, Receive, Scope, Send
from undersigned.asgi.middleware import OPERATION, PROFILE, RECORDER, Fallback, SignatureMiddleware
from undersigned.asgi.requirement import find_signature, required_signature
from undersigned.asgi.response_signing import ResponseSigningMiddleware

__all__ = [
    "OPERATION",
    "PROFILE",
    "RECORDER",
    "ASGIApp",
    "Fallback",
    "Message",
    "Receive",
    "ResponseSigningMiddleware",
    "Scope",
    "Send",
    "SignatureMiddleware",
    "find_signature",
    "required_signature",
]

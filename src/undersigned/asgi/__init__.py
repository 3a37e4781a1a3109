"""The ASGI middleware: `from undersigned.asgi import SignatureMiddleware`."""

from undersigned.asgi.interface import ASGIApp, Message, Receive, Scope, Send
from undersigned.asgi.middleware import (
    ReadyRoute,
    SignatureMiddleware,
    check_route,
)
from undersigned.asgi.received import ScopeBody, ScopeReceived
from undersigned.asgi.response_signing import ResponseSigningMiddleware
from undersigned.middleware.admission import ADMISSION, find_signature, required_signature

__all__ = [
    "ADMISSION",
    "ASGIApp",
    "Message",
    "ReadyRoute",
    "Receive",
    "ResponseSigningMiddleware",
    "Scope",
    "ScopeBody",
    "ScopeReceived",
    "Send",
    "SignatureMiddleware",
    "check_route",
    "find_signature",
    "required_signature",
]

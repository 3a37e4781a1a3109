"""The ASGI middleware: `from undersigned.asgi import SignatureMiddleware`."""

from undersigned.asgi.guard import AsyncGuard
from undersigned.asgi.incoming import Disconnected, ScopeIncoming, WireIncoming
from undersigned.asgi.interface import ASGIApp, Message, Receive, Scope, Send
from undersigned.asgi.middleware import (
    ReadyRoute,
    SignatureMiddleware,
    check_route,
)
from undersigned.asgi.response_signing import ResponseSigningMiddleware
from undersigned.middleware.requirement import VERIFICATION, find_signature, required_signature

__all__ = [
    "VERIFICATION",
    "ASGIApp",
    "AsyncGuard",
    "Disconnected",
    "Message",
    "ReadyRoute",
    "Receive",
    "ResponseSigningMiddleware",
    "Scope",
    "ScopeIncoming",
    "Send",
    "SignatureMiddleware",
    "WireIncoming",
    "check_route",
    "find_signature",
    "required_signature",
]

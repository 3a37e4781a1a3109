"""The ASGI middleware: `from undersigned.asgi import SignatureMiddleware`."""

from undersigned.asgi.chunked import Disconnected
from undersigned.asgi.guard import AsyncGuard
from undersigned.asgi.incoming import VERIFICATION, ScopeIncoming
from undersigned.asgi.interface import ASGIApp, Message, Receive, Scope, Send
from undersigned.asgi.middleware import Fallback, Rejection, SignatureMiddleware
from undersigned.asgi.ready import ReadyRoute
from undersigned.asgi.requirement import check_route, find_signature, required_signature
from undersigned.asgi.response_signing import ResponseSigningMiddleware
from undersigned.asgi.wire import WireIncoming

__all__ = [
    "VERIFICATION",
    "ASGIApp",
    "AsyncGuard",
    "Disconnected",
    "Fallback",
    "Message",
    "ReadyRoute",
    "Receive",
    "Rejection",
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

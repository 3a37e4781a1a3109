"""The ASGI middleware: `from undersigned.asgi import SignatureMiddleware`."""

from undersigned.asgi.middleware import ReadyRoute, SignatureMiddleware
from undersigned.asgi.received import ScopeBody, ScopeReceived, is_closed_only
from undersigned.asgi.response_signing import ResponseSigningMiddleware
from undersigned.asgi.scope import ASGIApp, Message, Receive, Scope, Send, is_application
from undersigned.middleware.published import check_route, find_signature, signature_required, verified_signature

__all__ = [
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
    "is_application",
    "is_closed_only",
    "signature_required",
    "verified_signature",
]

"""The ASGI middleware: `from undersigned.asgi import SignatureMiddleware`."""

from undersigned.asgi.interface import ASGIApp, Message, Receive, Scope, Send
from undersigned.asgi.middleware import VERIFICATION, Fallback, Rejection, SignatureMiddleware
from undersigned.asgi.ready import ReadyRoute
from undersigned.asgi.requirement import check_route, find_signature, required_signature
from undersigned.asgi.response_signing import ResponseSigningMiddleware

__all__ = [
    "VERIFICATION",
    "ASGIApp",
    "Fallback",
    "Message",
    "ReadyRoute",
    "Receive",
    "Rejection",
    "ResponseSigningMiddleware",
    "Scope",
    "Send",
    "SignatureMiddleware",
    "check_route",
    "find_signature",
    "required_signature",
]

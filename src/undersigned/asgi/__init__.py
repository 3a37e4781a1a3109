"""The ASGI middleware: `from undersigned.asgi import SignatureMiddleware`."""

from undersigned.asgi.middleware import ASGIApp, Fallback, Message, Receive, Scope, Send, SignatureMiddleware

__all__ = ["ASGIApp", "Fallback", "Message", "Receive", "Scope", "Send", "SignatureMiddleware"]

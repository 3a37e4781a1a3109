"""The WSGI middleware: `from undersigned.wsgi import SignatureMiddleware`.

`undersigned.wsgi.wsgiref` has a handler for the standard library's server.
"""

from undersigned.wsgi.middleware import (
    OPERATION,
    PROFILE,
    RECORDER,
    SIGNATURE,
    Environ,
    Fallback,
    SignatureMiddleware,
    StartResponse,
    WSGIApp,
)
from undersigned.wsgi.requirement import find_signature, required_signature
from undersigned.wsgi.response_signing import ResponseSigningMiddleware

__all__ = [
    "OPERATION",
    "PROFILE",
    "RECORDER",
    "SIGNATURE",
    "Environ",
    "Fallback",
    "ResponseSigningMiddleware",
    "SignatureMiddleware",
    "StartResponse",
    "WSGIApp",
    "find_signature",
    "required_signature",
]

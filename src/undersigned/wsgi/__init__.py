"""The WSGI middleware: `from undersigned.wsgi import SignatureMiddleware`.

`undersigned.wsgi.wsgiref` has a handler for the standard library's server.
"""

from undersigned.middleware.requirement import VERIFICATION, find_signature, required_signature
from undersigned.wsgi.incoming import SIGNATURE, EnvironIncoming
from undersigned.wsgi.middleware import (
    Environ,
    ReadyRoute,
    SignatureMiddleware,
    StartResponse,
    SyncGuard,
    WSGIApp,
    check_route,
)
from undersigned.wsgi.response_signing import ResponseSigningMiddleware

__all__ = [
    "SIGNATURE",
    "VERIFICATION",
    "Environ",
    "EnvironIncoming",
    "ReadyRoute",
    "ResponseSigningMiddleware",
    "SignatureMiddleware",
    "StartResponse",
    "SyncGuard",
    "WSGIApp",
    "check_route",
    "find_signature",
    "required_signature",
]

"""The WSGI middleware: `from undersigned.wsgi import SignatureMiddleware`.

`undersigned.wsgi.wsgiref` has a handler for the standard library's server.
"""

from undersigned.wsgi.middleware import (
    SIGNATURE,
    VERIFICATION,
    Environ,
    Fallback,
    Rejection,
    SignatureMiddleware,
    StartResponse,
    WSGIApp,
)
from undersigned.wsgi.ready import ReadyRoute
from undersigned.wsgi.requirement import check_route, find_signature, required_signature
from undersigned.wsgi.response_signing import ResponseSigningMiddleware

__all__ = [
    "SIGNATURE",
    "VERIFICATION",
    "Environ",
    "Fallback",
    "ReadyRoute",
    "Rejection",
    "ResponseSigningMiddleware",
    "SignatureMiddleware",
    "StartResponse",
    "WSGIApp",
    "check_route",
    "find_signature",
    "required_signature",
]

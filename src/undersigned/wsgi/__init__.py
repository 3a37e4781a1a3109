"""The WSGI middleware: `from undersigned.wsgi import SignatureMiddleware`.

`undersigned.wsgi.wsgiref` has a handler for the standard library's server.
"""

from undersigned.middleware.published import check_route_now as check_route
from undersigned.middleware.published import find_signature, signature_required, verified_signature
from undersigned.wsgi.environ import Environ, StartResponse, WSGIApp
from undersigned.wsgi.middleware import ReadyRoute, SignatureMiddleware, SyncGuard
from undersigned.wsgi.received import EnvironBody, EnvironReceived
from undersigned.wsgi.response_signing import ResponseSigningMiddleware

__all__ = [
    "Environ",
    "EnvironBody",
    "EnvironReceived",
    "ReadyRoute",
    "ResponseSigningMiddleware",
    "SignatureMiddleware",
    "StartResponse",
    "SyncGuard",
    "WSGIApp",
    "check_route",
    "find_signature",
    "signature_required",
    "verified_signature",
]

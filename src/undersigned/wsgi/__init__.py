"""The WSGI middleware: `from undersigned.wsgi import SignatureMiddleware`.

`undersigned.wsgi.wsgiref` has a handler for the standard library's server.
"""

from undersigned.wsgi.middleware import (
    OPERATION,
    SIGNATURE,
    Environ,
    Fallback,
    SignatureMiddleware,
    StartResponse,
    WSGIApp,
)

__all__ = ["OPERATION", "SIGNATURE", "Environ", "Fallback", "SignatureMiddleware", "StartResponse", "WSGIApp"]

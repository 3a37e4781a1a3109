"""The route of the readiness check over WSGI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError
from undersigned.middleware.readiness import METHODS, Readiness
from undersigned.verification.verifier import Verifier, finish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned.wsgi.middleware import Environ, StartResponse, WSGIApp


class ReadyRoute:
    """A middleware that answers one path itself: 200 if requests can be verified now, else 503.

    As `undersigned.asgi.ReadyRoute`, over WSGI.

    Args:
        app: the application, which gets all other requests.
        verifier: the verifier of the `SignatureMiddleware`.
        path: the path to answer.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(self, app: WSGIApp, *, verifier: Verifier, path: str = "/ready") -> None:
        if not isinstance(verifier, Verifier):
            raise ConfigurationError("verifier: pass a Verifier")
        self.app = app
        self._readiness = Readiness(verifier, path)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the check, or call the application."""
        method = environ["REQUEST_METHOD"]
        if environ.get("PATH_INFO") != self._readiness.path or method not in METHODS:
            return self.app(environ, start_response)
        status, fields, content = finish(self._readiness.answer())
        start_response("200 OK" if status == 200 else "503 Service Unavailable", fields)  # noqa: PLR2004 - as the line says
        return [] if method == "HEAD" else [content]

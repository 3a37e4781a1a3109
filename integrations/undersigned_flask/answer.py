"""The answer to an unsigned request: the code and nothing more, in JSON or, where a browser asks, in HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from flask import Request, Response

from undersigned.middleware import ErrorResponse, log_rejection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned import Profile
    from undersigned.wsgi import Environ, StartResponse, WSGIApp

    from .settings import ModeSetting


_LONGEST_ACCEPT = 512


def prefers_html(environ: Environ) -> bool:
    """Return whether the Accept field prefers HTML to JSON; it is JSON without one, and where it is no browser's."""
    if len(environ.get("HTTP_ACCEPT", "")) > _LONGEST_ACCEPT:
        return False
    accepted = Request(environ, populate_request=False).accept_mimetypes
    return accepted.best_match(["application/json", "text/html"]) == "text/html"


def unsigned_answer(environ: Environ, profile: Profile) -> Response:
    """Return the answer to an unsigned request where a signature is required, and log the refusal."""
    error = profile.error("signature_required", step=0, detail="the view requires a signature; there is none")
    log_rejection(error)
    refusal = ErrorResponse.of(error)
    response = Response(refusal.body, refusal.status, refusal.fields)
    if prefers_html(environ):
        code = escape(refusal.code)
        response.content_type = "text/html; charset=utf-8"
        response.set_data(f'<!doctype html><html lang="en"><title>{code}</title><h1>{code}</h1></html>\n')
    response.vary.add("Accept")
    return response


class HTMLRefusals:
    """Answers browsers in HTML where the middleware inside would refuse an unsigned request in JSON.

    It stands in front of the middleware and can only refuse: all else goes on, to be judged there.

    Args:
        middleware: the WSGI middleware.
        profile: the profile it judges by.
        mode: its mode.
    """

    __slots__ = ("_middleware", "_mode", "_profile")

    def __init__(self, middleware: WSGIApp, *, profile: Profile, mode: ModeSetting) -> None:
        self._middleware = middleware
        self._profile = profile
        self._mode = mode

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer an unsigned request of a browser, or hand the request on as it is."""
        unsigned = "HTTP_SIGNATURE" not in environ and "HTTP_SIGNATURE_INPUT" not in environ
        if unsigned and prefers_html(environ) and self._mode_for(environ) == "required":
            return unsigned_answer(environ, self._profile)(environ, start_response)
        return self._middleware(environ, start_response)

    def _mode_for(self, environ: Environ) -> str:
        return self._mode(environ) if callable(self._mode) else self._mode

"""The answer to an unsigned request: only the code, in JSON, or in HTML for a browser."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from flask import Request, Response
from werkzeug.exceptions import HTTPException, default_exceptions

from undersigned.middleware import ErrorResponse
from undersigned.wsgi import SignatureMiddleware

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned import SignatureError
    from undersigned.wsgi import Environ, StartResponse

_LONGEST_ACCEPT = 512
_UNAUTHORIZED = 401


class BrowserMiddleware(SignatureMiddleware):
    """A WSGI middleware that answers an unsigned request in HTML if the Accept field prefers that."""

    def answer(self, environ: Environ, start_response: StartResponse, response: ErrorResponse) -> Iterable[bytes]:
        """Answer a rejected request: in JSON, unless it is unsigned and comes from a browser."""
        unsigned = "HTTP_SIGNATURE" not in environ and "HTTP_SIGNATURE_INPUT" not in environ
        if unsigned and response.status == _UNAUTHORIZED:
            return unsigned_response(environ, response)(environ, start_response)
        return super().answer(environ, start_response, response)


def unsigned_response(environ: Environ, rejection: ErrorResponse) -> Response:
    """Return the response to an unsigned request, in JSON or in HTML as its Accept field prefers."""
    response = Response(rejection.body, rejection.status, rejection.fields)
    if rejection.content is None and _prefers_html(environ):
        code = escape(rejection.code)
        response.content_type = "text/html; charset=utf-8"
        response.set_data(f'<!doctype html><html lang="en"><title>{code}</title><h1>{code}</h1></html>\n')
    response.vary.add("Accept")
    return response


def rejection(environ: Environ, error: SignatureError) -> HTTPException:
    """Return the exception that rejects an unsigned request: handlers of 401 get it, with the code as `description`."""
    answer = ErrorResponse.of(error)
    return default_exceptions[answer.status](answer.code, unsigned_response(environ, answer))


def _prefers_html(environ: Environ) -> bool:
    """Return whether the Accept field prefers HTML to JSON. No browser sends a field of more than 512 characters."""
    if len(environ.get("HTTP_ACCEPT", "")) > _LONGEST_ACCEPT:
        return False
    accepted = Request(environ, populate_request=False).accept_mimetypes
    return accepted.best_match(["application/json", "text/html"]) == "text/html"

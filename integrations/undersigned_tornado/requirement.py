"""The requirement of a signature for a handler."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast

from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError

from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable

    from tornado.web import RequestHandler

    from undersigned import SignatureError

Method = TypeVar("Method", bound="Callable[..., object]")


class SignatureRequired(HTTPError):
    """The 401 for an unsigned request, with the code as its `reason`; `error` is the reason, for the log.

    `write_error` of the handler gets it as the exception of `exc_info`.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.status, reason=answer.code)
        self.error = error


REJECTED = "undersigned.rejected"
"""The attribute of a request's headers for the answer to a request that a handler has rejected."""


def _reject(request: HTTPServerRequest, error: SignatureError) -> SignatureRequired:
    vars(request.headers)[REJECTED] = ErrorResponse.of(error)
    return SignatureRequired(error)


# Tornado makes the request of the headers that the middleware passes on, and nothing else of it gets there.
PUBLISHED = Published[HTTPServerRequest](
    lambda request: vars(request.headers),
    is_request=lambda argument: isinstance(argument, HTTPServerRequest),
    error=_reject,
    advice="serve HTTPServer(Undersigned(app, ...)) instead of app.listen(...)",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(method: Method) -> Method:
    """Let a method of a handler run only for a signed request. An unsigned one raises `SignatureRequired`.

    To guard a whole handler, decorate its `prepare`. A CORS preflight then passes to the method `options`, because no
    browser signs it.

    Args:
        method: the method, sync or async.

    Raises:
        ConfigurationError: `method` is not a function; or, during a request, no middleware has verified it.
    """
    guarded = PUBLISHED.guarded(method, decorate="the methods of a RequestHandler, not the class")
    if getattr(method, "__name__", "") != "prepare":
        return guarded

    @wraps(method)
    def prepare(handler: RequestHandler, *args: object, **kwargs: object) -> object:
        is_preflight = PUBLISHED.admission(handler.request).received.is_preflight
        return (method if is_preflight else guarded)(handler, *args, **kwargs)

    return cast("Method", prepare)

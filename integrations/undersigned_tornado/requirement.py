"""The requirement of a signature for a handler."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from tornado.httputil import HTTPHeaders
from tornado.web import HTTPError

from undersigned import ConfigurationError, SignatureError
from undersigned.middleware import Admission, ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable

    from tornado.httputil import HTTPServerRequest
    from tornado.web import RequestHandler

    from undersigned import VerifiedSignature

Handler = TypeVar("Handler", bound="RequestHandler")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class VerifiedHeaders(HTTPHeaders):
    """The header fields of a request that the middleware has let pass.

    Attributes:
        admission: what the middleware published.
    """

    admission: Admission


class SignatureRequired(HTTPError):
    """Raised when a handler requires a signature and the request is unsigned: a 401 with the code as its `reason`.

    `signature_required` answers with its header fields too. Raised in a handler, Tornado answers it without them.

    Attributes:
        error: the reason, for the log; `error.code` is the code that the caller gets.
        answer: the answer, which is sent as it is if `rejection=` has shaped it.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.status, reason=answer.code)
        self.error, self.answer = error, answer


PUBLISHED = Published["HTTPServerRequest"](
    lambda request: getattr(request.headers, "admission", None),
    advice="serve HTTPServer(Undersigned(app, ...)) instead of app.listen(...)",
)


def find_signature(request: HTTPServerRequest) -> VerifiedSignature | None:
    """Return the verified signature of a request, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return PUBLISHED.find(request)


def verified_signature(request: HTTPServerRequest) -> VerifiedSignature:
    """Return the verified signature of a request.

    Raises:
        SignatureRequired: the request is unsigned. Tornado answers 401.
        ConfigurationError: no middleware has verified it.
    """
    try:
        return PUBLISHED.require(request)
    except SignatureError as error:
        raise SignatureRequired(error) from None


def signature_required(
    method: Callable[Concatenate[Handler, Parameters], Result],
) -> Callable[Concatenate[Handler, Parameters], Result | None]:
    """Let a method of a handler run only for a signed request. An unsigned one gets 401 by the handler's `write_error`.

    `write_error` gets `SignatureRequired` as the exception of `exc_info`; the caller may know its `error.code`.

    To guard a whole handler, decorate its `prepare`. A CORS preflight then passes to the method `options`, because no
    browser signs it.

    Args:
        method: the method, sync or async.

    Returns:
        The guarded method.

    Raises:
        ConfigurationError: `method` is not a function; or, during a request, no middleware has verified it.
    """
    if isinstance(method, type) or not callable(method):
        raise ConfigurationError("signature_required: decorate the methods of a RequestHandler, not the class")

    guards_all = getattr(method, "__name__", "") == "prepare"

    @wraps(method)
    def guard(handler: Handler, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result | None:
        if guards_all and PUBLISHED.admission(handler.request).received.is_preflight:
            return method(handler, *args, **kwargs)
        try:
            verified_signature(handler.request)
        except SignatureRequired as error:
            _send_error(handler, error)
            return None
        return method(handler, *args, **kwargs)

    return guard


def _send_error(handler: RequestHandler, error: SignatureRequired) -> None:
    """Answer as `send_error` of a handler does, which keeps no header fields."""
    answer = error.answer
    handler.clear()
    handler.set_status(answer.status)
    for name, value in answer.headers.items():
        handler.set_header(name, value)
    if PUBLISHED.admission(handler.request).received.shaped:
        handler.set_header("Content-Type", answer.content_type)
        handler.finish(answer.body)  # pyright: ignore[reportUnknownMemberType]
        return
    handler.write_error(answer.status, exc_info=(SignatureRequired, error, None))
    # As `send_error`: Tornado has no other name for it.
    if not handler._finished:  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        handler.finish()  # pyright: ignore[reportUnknownMemberType]

"""The Django middleware: it verifies a request before every other middleware and the view see it."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

from asgiref.sync import async_to_sync, sync_to_async
from django.core.exceptions import ImproperlyConfigured
from django.core.handlers.asgi import ASGIRequest
from django.core.signals import request_started
from django.http import HttpResponse
from django.utils.functional import cached_property

from undersigned import ConfigurationError
from undersigned.asgi import ScopeBody, ScopeReceived
from undersigned.middleware import ErrorResponse, shown_outside
from undersigned.wsgi import EnvironBody, EnvironReceived

from .requirement import SignatureRequired, answered_by_view, guards, read_setting, response
from .routes import RouteMiddleware

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from django.core.handlers.wsgi import WSGIRequest
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from undersigned.asgi import Message, Receive
    from undersigned.wsgi import Environ

__all__ = ["RouteMiddleware", "SignatureMiddleware"]

_CHUNK = 64 * 1024
_PATHS = ("PATH_INFO", "SCRIPT_NAME")
_VERIFIED = (*_PATHS, "REQUEST_METHOD", "QUERY_STRING", "HTTP_", "CONTENT_")
_RECEIVED = "undersigned_django.received"
"""The key of an environ that has the paths as the server gave them."""


def _keep_paths(environ: Environ | None = None, **_sent: object) -> None:
    """Keep the paths of an environ: when Django makes a request of it, it replaces them by text that it decoded."""
    if environ is not None:
        environ[_RECEIVED] = {key: environ[key] for key in _PATHS if key in environ}


request_started.connect(_keep_paths, dispatch_uid=_RECEIVED)


class SignatureMiddleware(RouteMiddleware):
    """A middleware that verifies requests by the setting `UNDERSIGNED`. Put it first.

    It works over WSGI and ASGI, in sync and async. The application gets what was verified: Django reads the request
    again from the verified environ or scope. `find_signature(request)` returns the signature, or None.

    Over ASGI, Django reads a whole body before any middleware runs. `undersigned.asgi.SignatureMiddleware` around
    `get_asgi_application()` reads no body before the signature over the headers has been verified.

    Raises:
        ImproperlyConfigured: the setting is missing or has a wrong value.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]) -> None:
        super().__init__(get_response)
        try:
            self._wsgi, self._asgi = guards()
            self._adds_root_path = bool(read_setting().get("SERVER_ADDS_ROOT_PATH"))
        except ConfigurationError as error:
            raise ImproperlyConfigured(str(error)) from None
        # Both verify by the same setting, so one of them logs it.
        self._wsgi.service.announce()

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Verify one request, then call the next middleware with the verified request."""
        if self._is_async:
            return self._respond(request)
        if isinstance(request, ASGIRequest):
            show = async_to_sync(self._verify_asgi)(request)
        else:
            show = self._verify_wsgi(cast("WSGIRequest", request))
        if isinstance(show, HttpResponse):
            return show
        try:
            return answered_by_view(request, cast("HttpResponseBase", self._get_response(request)))
        finally:
            show()

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer a view that has asked for the signature of an unsigned request: Django calls this."""
        return (
            response(ErrorResponse.of(exception.error), request) if isinstance(exception, SignatureRequired) else None
        )

    async def _respond(self, request: HttpRequest) -> HttpResponseBase:
        if isinstance(request, ASGIRequest):
            show = await self._verify_asgi(request)
        else:
            show = await sync_to_async(self._verify_wsgi)(cast("WSGIRequest", request))
        if isinstance(show, HttpResponse):
            return show
        try:
            return answered_by_view(request, await cast("Awaitable[HttpResponseBase]", self._get_response(request)))
        finally:
            show()

    def _verify_wsgi(self, request: WSGIRequest) -> HttpResponse | Callable[[], None]:
        """Verify a request over WSGI. Return the response if it is rejected, else what shows the server its environ."""
        outer = request.environ
        environ = {**outer, **outer.get(_RECEIVED, {})}
        received = EnvironReceived.of(environ, context=ref(request), reconstruct=self._wsgi.service.reconstruct)
        body = EnvironBody(self._wsgi.service, received)
        result = self._wsgi.verify_now(received, body)
        if isinstance(result, ErrorResponse):
            return response(result, request)
        _begin_again(request, body.forwarded(result))
        return shown_outside(outer, request.environ)

    async def _verify_asgi(self, request: ASGIRequest) -> HttpResponse | Callable[[], None]:
        """Verify a request over ASGI, as `_verify_wsgi` does."""
        # Django has no public name for the stream, and reading the request would mark it as read.
        stream = vars(request)["_stream"]

        async def receive() -> Message:
            chunk = stream.read(_CHUNK)
            return {"type": "http.request", "body": chunk, "more_body": bool(chunk)}

        received = ScopeReceived.of(
            dict(request.scope), receive, context=ref(request), server_adds_root_path=self._adds_root_path
        )
        body = ScopeBody(self._asgi.service, received, receive)
        result = await self._asgi.verify(received, body)
        if isinstance(result, ErrorResponse):
            return response(result, request)
        scope, forwarded = body.forwarded(result), body.rest()
        if forwarded is not receive:
            stream = BytesIO(await _whole(forwarded))
        outer: Any = request.scope
        meta = request.META
        _begin_again(request, dict(scope), stream)
        # Django makes META of the scope. What layers outside have put into it, such as their timers, stays.
        request.META.update((name, value) for name, value in meta.items() if not name.startswith(_VERIFIED))
        return shown_outside(outer, request.scope)


async def _whole(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    message: Message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        chunks.append(message.get("body", b""))
    return b"".join(chunks)


def _begin_again(request: HttpRequest, *verified: Any) -> None:
    """Make a request what it is of a verified environ or scope, without what it has cached of its first one."""
    kind: Any = type(request)
    for name in [name for name in vars(request) if isinstance(getattr(kind, name, None), cached_property)]:
        del vars(request)[name]
    kind.__init__(request, *verified)

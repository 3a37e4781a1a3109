"""The Tornado middleware: it verifies a request by its raw target, before the application routes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tornado.httputil import (
    HTTPConnection,
    HTTPMessageDelegate,
    HTTPServerConnectionDelegate,
)

from undersigned.asgi import AsyncGuard
from undersigned.middleware import DEFAULT_BODY_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY

from .exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tornado.httputil import HTTPServerRequest

    from undersigned import AsyncVerifier, Decision, Policy, Verifier
    from undersigned.middleware import ConfiguredOrigins, ErrorResponse, Mode


class SignatureMiddleware(HTTPServerConnectionDelegate):
    """A middleware for `HTTPServer(SignatureMiddleware(app, ...))`, around an application or a router.

    Tornado routes by what was verified: the canonical target and the header fields. A body is read only after the
    signature over the header fields has been verified, and reaches the handler only after it was verified too. A
    request that Tornado decompresses (`decompress_request=True`) does not verify if its body was compressed.

    Args:
        application: the application, or a router.
        verifier: a `Verifier`, which is asked in a thread if its sources block, or an `AsyncVerifier`.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        mode: what happens to an unsigned request.
        max_body: the largest body that is read, in bytes. A larger one gets 413. Tornado has a limit of its own,
            `max_body_size`.
        max_unsigned_body: the largest body that is read for a policy if no valid signature covers it, in bytes. A
            request with a larger one must be signed.
        body_timeout: how many seconds reading a body may take. A slower one gets 408.
        policy: which operations must be signed. It replaces `mode`.
        fallback: tells whether another authenticator accepts the caller; a function of the request, sync or async. It
            is asked only if the policy would reject the request and another credential could change that.
        on_decision: gets a `Decision` for every request.
        rejection: shapes the answer to a rejected request: a function of the `ErrorResponse` and the request that
            returns another, for example of `ErrorResponse.with_content`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        application: HTTPServerConnectionDelegate,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: ConfiguredOrigins,
        mode: Mode = "required",
        max_body: int = DEFAULT_MAX_BODY,
        max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
        body_timeout: float = DEFAULT_BODY_TIMEOUT,
        policy: Policy | None = None,
        fallback: Callable[[HTTPServerRequest], bool | Awaitable[bool]] | None = None,
        on_decision: Callable[[Decision], object] | None = None,
        rejection: Callable[[ErrorResponse, HTTPServerRequest], ErrorResponse] | None = None,
    ) -> None:
        self._application = application
        self._guard = AsyncGuard(
            verifier=verifier,
            origins=origins,
            mode=mode,
            max_body=max_body,
            max_unsigned_body=max_unsigned_body,
            body_timeout=body_timeout,
            policy=policy,
            fallback=_of_request(fallback) if callable(fallback) else fallback,
            on_decision=on_decision,
            rejection=_of_rejected(rejection) if callable(rejection) else rejection,
        )
        self._guard.announce()

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """Return a delegate that reads one request, verifies it and passes it to the application."""
        return Exchange(self._guard, self._application, server_conn, request_conn)


def _of_request(function: Callable[[HTTPServerRequest], Any]) -> Callable[[Exchange], Any]:
    return lambda exchange: function(exchange.request())


def _of_rejected(
    function: Callable[[ErrorResponse, HTTPServerRequest], ErrorResponse],
) -> Callable[[ErrorResponse, Exchange], ErrorResponse]:
    return lambda response, exchange: function(response, exchange.request())

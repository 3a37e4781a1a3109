"""The Tornado middleware: it verifies a request by its raw target, before the application routes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tornado.httputil import HTTPConnection, HTTPMessageDelegate, HTTPServerConnectionDelegate

from undersigned.eventloop import AsyncGuard

from .exchange import Exchange

if TYPE_CHECKING:
    from typing import Unpack

    from tornado.httputil import HTTPServerRequest

    from undersigned.middleware import AsyncSetup


class Undersigned(HTTPServerConnectionDelegate):
    """What verifies: `HTTPServer(Undersigned(app, ...))`, around an application or a router.

    Tornado routes by what was verified: the canonical target and the headers. A body is read only after the
    signature over the headers has been verified, and reaches the handler only after it was verified too. A
    request that Tornado decompresses (`decompress_request=True`) does not verify if its body was compressed.

    Args:
        application: the application, or a router.
        options: `verifier`, `origins` and the options of every middleware, as `undersigned.middleware.AsyncSetup` lists
            them. Their functions get the request. Tornado has a limit of its own besides `max_body`: `max_body_size`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self, application: HTTPServerConnectionDelegate, **options: Unpack[AsyncSetup[HTTPServerRequest]]
    ) -> None:
        self._application = application
        self._guard = AsyncGuard(app=application, **options)
        self._guard.service.announce()

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """Return a delegate that reads one request, verifies it and passes it to the application."""
        return Exchange(self._guard, self._application, server_conn, request_conn)

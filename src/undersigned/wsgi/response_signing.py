"""The WSGI middleware that signs responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.limits import DEFAULT_MAX_BODY
from undersigned.middleware.response_signing import ResponseSigning
from undersigned.wsgi.received import EnvironReceived

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from undersigned.signature.signer import Signer
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.wsgi.environ import Environ, StartResponse, WSGIApp


class ResponseSigningMiddleware:
    """A middleware that signs the responses of an application. Put it outside everything else.

    A response is sent when its body is complete. If it cannot be signed, a `SigningError` is raised before its first
    byte is sent, and the server answers 500. A response is not signed if its request is not for an origin of the
    service, has headers of more than 100 names, or has a value that cannot be covered.

    Args:
        app: the application, for example with a `SignatureMiddleware` around it.
        signer: a signer whose profile is for responses, such as `profiles.UCP_RESPONSE`.
        origins: the public origins of the service, as for `SignatureMiddleware`.
        max_body: the largest body that is signed, in bytes.
        reconstruct: as for `SignatureMiddleware`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        app: WSGIApp,
        *,
        signer: Signer,
        origins: ConfiguredOrigins,
        max_body: int = DEFAULT_MAX_BODY,
        reconstruct: bool = False,
    ) -> None:
        self.app = app
        self._signing = ResponseSigning(signer, origins, max_body=max_body)
        self._reconstruct = reconstruct

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Call the application, and sign its response."""
        received = EnvironReceived.of(environ, start_response, reconstruct=self._reconstruct)
        request = self._signing.request(received)
        if request is None:
            return self.app(environ, start_response)
        status, headers, body = "", list[tuple[str, str]](), bytearray()

        def start(line: str, fields: list[tuple[str, str]], exc_info: object = None) -> Callable[[bytes], object]:
            # A later call replaces an earlier one, since nothing has been sent (PEP 3333).
            nonlocal status, headers
            del exc_info
            status, headers = line, list(fields)
            return write

        def write(part: bytes) -> None:
            body.extend(part)
            self._signing.check_size(len(body))

        parts = self.app(environ, start)
        try:
            for part in parts:
                write(part)
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                close()
        added = self._signing.fields(request, int(status.partition(" ")[0]), headers, bytes(body))
        start_response(status, [*headers, *added])
        # Some servers send the content of a response to HEAD, although the client expects the next response there.
        return [] if request.method == "HEAD" else [bytes(body)]

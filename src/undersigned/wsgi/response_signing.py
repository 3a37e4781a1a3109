"""The WSGI middleware that signs responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import MalformedURL, SignatureError
from undersigned.limits import DEFAULT_MAX_BODY
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.authority import matched_origin
from undersigned.middleware.response_signing import ResponseSigning, log_unsignable
from undersigned.wsgi.environ import field_lines, http_version, request_target
from undersigned.wsgi.servers import detected_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from undersigned.signature.signer import Signer
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.wsgi.middleware import Environ, StartResponse, WSGIApp


class ResponseSigningMiddleware:
    """A middleware that signs the responses of an application. Put it outside everything else.

    A response is sent when its body is complete. If it cannot be signed, a `SigningError` is raised before its first
    byte is sent, and the server answers 500. Responses to requests for no origin of the service, or with something
    else that cannot be covered, are not signed.

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
        self._profile = signer.profile
        self._reconstruct = reconstruct

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Call the application, and sign its response."""
        try:
            request = self._request(environ, start_response)
        except (MalformedURL, SignatureError):
            log_unsignable()
            return self.app(environ, start_response)
        collected = _Collected(self._signing)
        parts = self.app(environ, collected.start)
        try:
            for part in parts:
                collected.write(part)
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                close()
        body = bytes(collected.body)
        status = int(collected.status.partition(" ")[0])
        added = self._signing.fields(request, status, collected.headers, body)
        start_response(collected.status, [*collected.headers, *added])
        # Some servers send the content of a response to HEAD, although the client expects the next response there.
        return [] if request.method == "HEAD" else [body]

    def _request(self, environ: Environ, start_response: StartResponse) -> Request:
        fields = HeaderFields(field_lines(environ))
        origin = matched_origin(self._signing.origins, fields, http_version(environ))
        server = detected_server(environ, start_response)
        target = request_target(environ, self._profile, reconstruct=self._reconstruct, server=server)
        return Request(environ["REQUEST_METHOD"], target.url(origin), fields)


class _Collected:
    """A response that an application sends, kept until it is complete.

    Attributes:
        status: the status line.
        headers: the header fields.
        body: the body.
    """

    __slots__ = ("_signing", "body", "headers", "status")

    def __init__(self, signing: ResponseSigning) -> None:
        self._signing = signing
        self.status = ""
        self.headers: list[tuple[str, str]] = []
        self.body = bytearray()

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Callable[[bytes], object]:
        """Keep status and header fields; a later call replaces them, since nothing has been sent (PEP 3333)."""
        del exc_info
        self.status = status
        self.headers = list(headers)
        return self.write

    def write(self, part: bytes) -> None:
        """Keep a part of the body."""
        self.body += part
        self._signing.check_size(len(self.body))

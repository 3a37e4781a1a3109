"""Signing of responses: what the ASGI and the WSGI middleware that sign responses share (RFC 9421 section 2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError, MalformedURL, SigningError
from undersigned.message.request import Request
from undersigned.message.response import Response
from undersigned.middleware.error_response import logger
from undersigned.middleware.received import UnsupportedServer
from undersigned.signature.signer import Signer
from undersigned.url import Origins

if TYPE_CHECKING:
    from undersigned.middleware.received import Received
    from undersigned.url.origin import ConfiguredOrigins

_PLAIN: Final = (("Content-Type", "text/plain"),)
_NOT_SIGNED: Final = (
    "response not signed: the request has too many headers, or a target, authority or field that cannot be covered"
)
_WITHOUT_CONTENT: Final = frozenset({204, 205, 304})


class ResponseSigning:
    """A maker of the signature fields of responses. A body is kept in memory until it is complete.

    Raises:
        ConfigurationError: an option has a wrong value, or the signer's profile is for requests.
    """

    __slots__ = ("_max_body", "_origins", "_signer")

    def __init__(self, signer: Signer, origins: ConfiguredOrigins, *, max_body: int) -> None:
        if not isinstance(signer, Signer) or signer.profile.message != "response":
            raise ConfigurationError("signer: pass a Signer with a profile for responses, such as UCP_RESPONSE")
        self._origins = Origins(origins)
        self._signer = signer
        self._max_body = max_body

    def request(self, received: Received) -> Request | None:
        """Return the request that a response answers; None, and log it, if the response is not signed because of it."""
        try:
            url = received.target()[0].url(received.origin(self._origins))
        except (MalformedURL, UnsupportedServer):
            logger.info(_NOT_SIGNED)
            return None
        return Request(received.method, url, received.fields)

    def check_size(self, size: int) -> None:
        """Check that so many bytes of a body may be kept until it is signed.

        Raises:
            SigningError: they are more than `max_body`. Nothing of the response has been sent yet.
        """
        if size > self._max_body:
            raise SigningError(
                f"response: its body is longer than max_body ({self._max_body} bytes), so it cannot be signed; raise "
                "max_body, or serve it by an application without this middleware"
            )

    def fields(
        self, request: Request, status: int, headers: list[tuple[str, str]], body: bytes
    ) -> tuple[tuple[str, str], ...]:
        """Return the headers to add to a response; none if the request has something that cannot be covered.

        Raises:
            SigningError: the response lacks something that the profile covers.
        """
        has_content = request.method != "HEAD" and status not in _WITHOUT_CONTENT
        response = Response(status, headers, body if has_content else b"", request=request)
        try:
            return self._signer.sign_response(response).fields
        except (MalformedURL, SigningError):
            # The caller chooses the request, and must not cause an error of the application by it.
            if self._can_answer(request):
                raise
            logger.info(_NOT_SIGNED)
            return ()

    def _can_answer(self, request: Request) -> bool:
        """Return whether a plain response to this request can be signed."""
        try:
            self._signer.sign_response(Response(200, _PLAIN, request=request))
        except (MalformedURL, SigningError):
            return False
        return True

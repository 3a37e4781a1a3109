"""Messages of vectors: a request or a response, in each form in which they are published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from undersigned.conformance.document import MalformedVector
from undersigned.message.header_fields import HeaderFields
from undersigned.message.reading import LENIENT
from undersigned.message.request import Request
from undersigned.message.response import Response
from undersigned.signature.components import ComponentValues, ResponseValues
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from undersigned.conformance.document import Document
    from undersigned.message.reading import Reading

_RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class RequestMessage:
    """A published request.

    Attributes:
        sent: the request.
        request_target: the request target as it was sent, if it is published.
        trailers: the trailer fields, or None.
    """

    sent: Request
    request_target: str | None = None
    trailers: HeaderFields | None = None

    def values(self, reading: Reading = LENIENT) -> ComponentValues:
        """Return the component values, read as `reading` says."""
        return ComponentValues(
            self.sent,
            canonicalize(self.sent.url),
            reading=reading,
            request_target=self.request_target,
            trailers=self.trailers,
        )


@dataclass(frozen=True, slots=True)
class ResponseMessage:
    """A published response.

    Attributes:
        sent: the response.
        asked: the request that it answers, or None if that is not published.
    """

    sent: Response
    asked: RequestMessage | None = None

    def values(self, reading: Reading = LENIENT) -> ResponseValues:
        """Return the component values, read as `reading` says."""
        asked = None if self.asked is None else self.asked.values(reading)
        return ResponseValues(self.sent, asked, reading=reading)


Message: TypeAlias = RequestMessage | ResponseMessage


def message_by_kind(document: Document) -> Message:
    """Read a message that says by `kind` what it is; `fields` are raw header lines."""
    if document.text("kind") == _RESPONSE:
        asked = _request_by_kind(document.document("request")) if "request" in document else None
        return ResponseMessage(_response(document, document.pairs("fields"), _trailers(document)), asked)
    return _request_by_kind(document)


def message_by_status(document: Document) -> Message:
    """Read a message that is a response if it has a `status`; `headers` is an object or a list of pairs."""
    method, url = document.text("method"), document.text("url")
    if "status" not in document:
        return RequestMessage(_request(method, url, document.pairs("headers"), document))
    asked = Request(method, url, document.pairs("request_headers") if "request_headers" in document else ())
    return ResponseMessage(_response(document, document.pairs("headers"), None), RequestMessage(asked))


def _request_by_kind(document: Document) -> RequestMessage:
    sent = Request(document.text("method"), document.text("target_uri"), document.pairs("fields"))
    target = document.text("request_target") if "request_target" in document else None
    return RequestMessage(sent, target, _trailers(document))


def _request(method: str, url: str, fields: list[tuple[str, str]], document: Document) -> Request:
    try:
        return Request(method, url, fields, document.text("body", ""))
    except UnicodeEncodeError:
        raise MalformedVector("body contains a lone surrogate, which UTF-8 cannot encode") from None


def _response(document: Document, fields: list[tuple[str, str]], trailers: HeaderFields | None) -> Response:
    try:
        return Response(document.integer("status"), fields, document.text("body", ""), trailers=trailers)
    except ValueError:
        raise MalformedVector("status does not have three digits, or body contains a lone surrogate") from None


def _trailers(document: Document) -> HeaderFields | None:
    return HeaderFields(document.pairs("trailers")) if "trailers" in document else None

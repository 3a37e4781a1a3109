"""A response: what was received, or what is about to be sent, with the request that it answers."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import content_of

if TYPE_CHECKING:
    from undersigned.message.header_fields import Headers
    from undersigned.message.request import Request

_STATUS = range(100, 1000)


@dataclass(slots=True, init=False, repr=False, unsafe_hash=True)
class Response:
    """One HTTP response. `dataclasses.replace` makes a copy with some parts changed.

    Args:
        status: the status code.
        fields: the headers: a mapping, (name, value) pairs or a `HeaderFields`. Text is bytes decoded as Latin-1.
        body: the content bytes before any decoding; a `str` is encoded as UTF-8, `None` means no content.
        request: the request that it answers, as it was signed or received. A signature may cover parts of it (`;req`).
        trailers: the trailer fields, or None if they are not known. Only then a signature may cover them (`;tr`).
        has_body: whether the response has content, if `body` itself is not read yet.

    Raises:
        ValueError: the status code does not have three digits.
        UnicodeEncodeError: a `str` body has a lone surrogate, which UTF-8 cannot encode; a mistake of the caller.
    """

    status: int
    fields: HeaderFields
    body: bytes
    request: Request | None
    trailers: HeaderFields | None
    has_body: bool
    content: Content = dataclasses.field(init=False, compare=False)

    def __init__(
        self,
        status: int,
        fields: Headers = (),
        body: bytes | str | Content | None = b"",
        *,
        request: Request | None = None,
        trailers: Headers | None = None,
        has_body: bool | None = None,
    ) -> None:
        if status not in _STATUS:
            raise ValueError("status must have three digits (RFC 9110 section 15)")
        self.status = int(status)
        self.fields = fields if isinstance(fields, HeaderFields) else HeaderFields(fields)
        self.content = content = body if isinstance(body, Content) else content_of(body)
        self.body = octets = bytes(content)
        self.request = request
        self.trailers = trailers if trailers is None or isinstance(trailers, HeaderFields) else HeaderFields(trailers)
        self.has_body = bool(octets) if has_body is None else has_body

    @property
    def method(self) -> str:
        """The method of the request that it answers, or ""."""
        return "" if self.request is None else self.request.method

    @property
    def url(self) -> str:
        """The URL of the request that it answers, or ""."""
        return "" if self.request is None else self.request.url

    @property
    def query_unknown(self) -> bool:
        """Always False: the client has the request, and so its query."""
        return False

    def __repr__(self) -> str:
        """Return status and sizes only, as fields and content may hold secrets."""
        return f"<Response: {self.status}, {len(self.fields)} headers, {len(self.content)} bytes>"

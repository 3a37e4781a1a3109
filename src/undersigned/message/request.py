"""A request: what was received, or what is about to be sent."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields

if TYPE_CHECKING:
    from undersigned.message.header_fields import Headers


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Request:
    """One HTTP request. `dataclasses.replace` makes a copy with some parts changed.

    Args:
        method: the method as sent, case kept.
        url: the absolute URL. For a received request: the public origin and the target as it was on the wire.
        fields: the header fields: a mapping, (name, value) pairs or a `HeaderFields`. Text is bytes decoded as
            Latin-1. `:authority` may be one of them.
        body: the content bytes before any decoding; a `str` is encoded as UTF-8, `None` means no content. `content`
            has the same bytes, and is parsed as JSON at most once.
        has_body: whether the request has content, if `body` itself is not read yet.
        query_unknown: whether a lone `?` at the end of the target would be invisible to the caller.

    Raises:
        TypeError: an argument has another type; a mistake of the caller, never of a message.
        UnicodeEncodeError: a `str` body has a lone surrogate, which UTF-8 cannot encode; also the caller's mistake.
    """

    method: str
    url: str
    fields: HeaderFields
    body: bytes
    has_body: bool
    query_unknown: bool
    content: Content = dataclasses.field(init=False, compare=False)

    def __init__(
        self,
        method: str,
        url: str,
        fields: Headers = (),
        body: bytes | str | Content | None = b"",
        *,
        has_body: bool | None = None,
        query_unknown: bool = False,
    ) -> None:
        if not isinstance(method, str) or not isinstance(url, str):
            raise TypeError("method and url must be str")
        content = body if isinstance(body, Content) else Content((_octets(body),))
        assign = object.__setattr__
        assign(self, "method", method)
        assign(self, "url", url)
        assign(self, "fields", fields if isinstance(fields, HeaderFields) else HeaderFields(fields))
        assign(self, "content", content)
        assign(self, "body", bytes(content))
        assign(self, "has_body", bool(len(content)) if has_body is None else has_body)
        assign(self, "query_unknown", query_unknown)

    def with_content(self, content: Content) -> Request:
        """Return this request with the content that came with it, once it is read."""
        has_body = self.has_body or len(content) > 0
        return Request(self.method, self.url, self.fields, content, has_body=has_body, query_unknown=self.query_unknown)

    def __repr__(self) -> str:
        """Return the shape of the request; fields, target and content may hold secrets."""
        return f"<Request: {len(self.fields)} header fields, {len(self.content)} bytes>"


def _octets(body: bytes | str | None) -> bytes:
    if isinstance(body, bytes):
        return body
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytearray, memoryview)):
        return bytes(body)
    raise TypeError("body must be bytes, str or None")

"""A request: what was received, or what is about to be sent."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from undersigned.message.header_fields import Headers


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Request:
    """One HTTP request.

    Args:
        method: the method as sent, case kept.
        url: the absolute URL. For a received request: the public origin and the target as it was on the wire.
        headers: header fields; text stands for bytes as Latin-1. Names are lower-cased; spaces and tabs around a
            value are dropped (RFC 9110 section 5.5). `:authority` may stand among them.
        body: the content bytes before any decoding; a `str` stands for its UTF-8 bytes, `None` for no content. It is
            kept as `content` too, which is read as JSON at most once.
        has_body: whether content comes with the request, where `body` itself is not read yet.
        query_unknown: whether a lone `?` at the end of the target would be invisible to who built this value.

    Attributes:
        by_name: the values of each field in their order, by its name in lower case; to be read, not changed.
        fields_are_sound: whether every field name is a token and no value holds CR, LF or NUL (RFC 9110 section 5.5).

    Raises:
        TypeError: an argument is of another type; a programmer's mistake, never a message's.
        UnicodeEncodeError: a `str` body holds a lone surrogate, which has no UTF-8; the same.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    has_body: bool
    query_unknown: bool
    content: Content = dataclasses.field(init=False, compare=False)
    by_name: Mapping[str, Sequence[str]] = dataclasses.field(init=False, compare=False)
    fields_are_sound: bool = dataclasses.field(init=False, compare=False)

    def __init__(
        self,
        method: str,
        url: str,
        headers: Headers = (),
        body: bytes | str | Content | None = b"",
        *,
        has_body: bool | None = None,
        query_unknown: bool = False,
    ) -> None:
        if not isinstance(method, str) or not isinstance(url, str):
            raise TypeError("method and url must be str")
        fields = headers if isinstance(headers, HeaderFields) else HeaderFields(headers)
        content = body if isinstance(body, Content) else Content((_octets(body),))
        assign = object.__setattr__
        assign(self, "method", method)
        assign(self, "url", url)
        assign(self, "headers", fields.lines)
        assign(self, "by_name", fields.by_name)
        assign(self, "fields_are_sound", fields.are_sound)
        assign(self, "content", content)
        assign(self, "body", bytes(content))
        assign(self, "has_body", bool(len(content)) if has_body is None else has_body)
        assign(self, "query_unknown", query_unknown)

    def with_content(self, content: Content) -> Request:
        """Return this request with the content that came with it, now that it is read."""
        return Request(
            self.method, self.url, self.headers, content, has_body=self.has_body, query_unknown=self.query_unknown
        )

    def __repr__(self) -> str:
        """Return the shape of the request; fields, target and content may hold secrets."""
        return f"<Request: {len(self.headers)} header fields, {len(self.content)} bytes>"

    def lines(self, name: str) -> list[str]:
        """Return the values of the field `name` (lower case), a line each, in their order."""
        return list(self.by_name.get(name, ()))

    def has(self, name: str) -> bool:
        """Return whether the request has a field `name` (lower case)."""
        return name in self.by_name

    def field(self, name: str) -> str | None:
        """Return the combined value of the field `name` (lower case), or None (RFC 9421 section 2.1)."""
        values = self.by_name.get(name)
        if values is None:
            return None
        return values[0] if len(values) == 1 else ", ".join(values)


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

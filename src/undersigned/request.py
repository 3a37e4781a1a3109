"""A request: what was received, or what is about to be sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
"""Header fields: a mapping, or (name, value) pairs whose order and repetition are kept."""

_NAMES = re.compile(r"(?::?[!#$%&'*+.^_`|~0-9a-z-]+\n)*")
_FORBIDDEN = re.compile(r"[\r\0]")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Request:
    """One HTTP request.

    Args:
        method: the method as sent, case kept.
        url: the absolute URL. For a received request: the public origin and the target as it was on the wire.
        headers: header fields; text stands for bytes as Latin-1. Names are lower-cased; spaces and tabs around a
            value are dropped (RFC 9110 section 5.5). `:authority` may stand among them.
        body: the content bytes before any decoding; a `str` stands for its UTF-8 bytes, `None` for no content.
        has_body: whether content comes with the request, where `body` itself is not read yet.
        query_unknown: whether a lone `?` at the end of the target would be invisible to who built this value.

    Raises:
        TypeError: an argument is of another type; a programmer's mistake, never a message's.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    has_body: bool
    query_unknown: bool

    def __init__(
        self,
        method: str,
        url: str,
        headers: Headers = (),
        body: bytes | str | None = b"",
        *,
        has_body: bool | None = None,
        query_unknown: bool = False,
    ) -> None:
        if not isinstance(method, str) or not isinstance(url, str):
            raise TypeError("method and url must be str")
        pairs = cast("Iterable[tuple[str, str]]", headers.items() if isinstance(headers, Mapping) else headers)
        content = _content(body)
        assign = object.__setattr__
        assign(self, "method", method)
        assign(self, "url", url)
        assign(self, "headers", tuple([(name.lower(), value.strip(" \t")) for name, value in pairs]))
        assign(self, "body", content)
        assign(self, "has_body", bool(content) if has_body is None else has_body)
        assign(self, "query_unknown", query_unknown)

    def __repr__(self) -> str:
        """Return the shape of the request; fields, target and content may hold secrets."""
        return f"<Request: {len(self.headers)} header fields, {len(self.body)} bytes>"

    def lines(self, name: str) -> list[str]:
        """Return the values of the field `name` (lower case), a line each, in their order."""
        return [value for field, value in self.headers if field == name]

    def field(self, name: str) -> str | None:
        """Return the combined value of the field `name` (lower case), or None (RFC 9421 section 2.1)."""
        values = self.lines(name)
        return ", ".join(values) if values else None

    def fields_are_sound(self) -> bool:
        """Return whether every field name is a token and no value holds CR, LF or NUL (RFC 9110 section 5.5)."""
        if _NAMES.fullmatch("".join([f"{name}\n" for name, _ in self.headers])) is None:
            return False
        values = "\n".join([value for _, value in self.headers])
        return _FORBIDDEN.search(values) is None and values.count("\n") == max(len(self.headers) - 1, 0)


def _content(body: bytes | str | None) -> bytes:
    if isinstance(body, bytes):
        return body
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytearray, memoryview)):
        return bytes(body)
    raise TypeError("body must be bytes, str or None")

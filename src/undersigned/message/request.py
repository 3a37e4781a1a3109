"""A request: what was received, or what is about to be sent."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from undersigned.message.content import Content

if TYPE_CHECKING:
    from collections.abc import Iterator

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
"""Header fields: a mapping, or (name, value) pairs whose order and repetition are kept."""

_NAME = r":?[!#$%&'*+.^_`|~0-9a-z-]++"
_NAMES = re.compile(rf"{_NAME}(?>(?:\n{_NAME})*)")
_USUAL: frozenset[str] = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "authorization",
        "connection",
        "content-digest",
        "content-length",
        "content-type",
        "cookie",
        "host",
        "signature",
        "signature-input",
        "transfer-encoding",
        "user-agent",
    }
)


class FieldLines:
    """Header fields as every reader takes them, read once: names in lower case, values without the space around them.

    Args:
        headers: a mapping, or (name, value) pairs; text stands for bytes as Latin-1.

    Attributes:
        lines: the (name, value) pairs in their order.
        by_name: the values of each name in their order.
        are_sound: whether every name is a token and no value holds CR, LF or NUL (RFC 9110 section 5.5).

    Raises:
        TypeError: `headers` is of another type.
    """

    __slots__ = ("are_sound", "by_name", "lines")

    def __init__(self, headers: Headers) -> None:
        pairs = cast("Iterable[tuple[str, str]]", headers.items() if isinstance(headers, Mapping) else headers)
        lines: list[tuple[str, str]] = []
        by_name: dict[str, list[str]] = {}
        try:
            for name, value in pairs:
                if not isinstance(name, str) or not isinstance(value, str):
                    raise TypeError("header names and values must be str")
                # Only ASCII has case here: the lower case of KELVIN SIGN is an ASCII letter, and another field's name.
                line = (name.lower() if name.isascii() else name, value.strip(" \t"))
                lines.append(line)
                if line[0] in by_name:
                    by_name[line[0]].append(line[1])
                else:
                    by_name[line[0]] = [line[1]]
        except ValueError:
            raise TypeError("headers must be a mapping or pairs of name and value") from None
        self.lines = tuple(lines)
        self.by_name = by_name
        values = "".join([value for _, value in lines])
        self.are_sound = not ("\r" in values or "\n" in values or "\0" in values) and (
            _USUAL.issuperset(by_name) or _are_tokens(by_name)
        )

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs."""
        return iter(self.lines)

    def has(self, name: str) -> bool:
        """Return whether there is a field `name` (lower case)."""
        return name in self.by_name

    def values(self, name: str) -> list[str]:
        """Return the values of the field `name` (lower case), a line each."""
        return self.by_name.get(name, [])


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
        fields = headers if isinstance(headers, FieldLines) else FieldLines(headers)
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


def _are_tokens(names: Collection[str]) -> bool:
    """Return whether every name is a token in lower case; all of them at one look."""
    joined = "\n".join(names)
    return joined.count("\n") == len(names) - 1 and _NAMES.fullmatch(joined) is not None


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

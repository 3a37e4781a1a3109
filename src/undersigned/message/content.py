"""Content: the bytes of a request's body, joined at most once and read as JSON at most once (RFC 9110 section 6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.message.strict_json import loads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.message.strict_json import JSONValue

_DELIMITERS: Final = b"{[,:%"
_ESCAPES: Final = (rb"\x", rb"\u00", rb"\U0000")


class Content:
    """The content of a request, in the chunks in which it arrived.

    The policy and the application read the same `Content`, so neither can parse the bytes differently. The repr shows
    only its size.

    Args:
        chunks: the bytes, in their order.
    """

    __slots__ = ("_joined", "_parsed", "chunks")

    def __init__(self, chunks: Sequence[bytes] = ()) -> None:
        self.chunks = chunks
        self._joined: bytes | None = chunks[0] if len(chunks) == 1 else None
        self._parsed: tuple[JSONValue] | ValueError | None = None

    def __bytes__(self) -> bytes:
        """Return all bytes, joined on the first call."""
        if self._joined is None:
            self._joined = b"".join(self.chunks)
        return self._joined

    def __len__(self) -> int:
        """Return how many bytes there are."""
        return sum(map(len, self.chunks))

    def __eq__(self, other: object) -> bool:
        """Return whether `other` has the same bytes, however they are chunked."""
        return bytes(self) == bytes(other) if isinstance(other, Content) else NotImplemented

    def __hash__(self) -> int:
        """Return a hash of the bytes."""
        return hash(bytes(self))

    def __repr__(self) -> str:
        return f"<Content: {len(self)} bytes>"

    def delimiters(self) -> int:
        """Return how many brackets, commas and colons of JSON and escapes of letters there are, also inside strings.

        An escape of a letter counts twice: decoding it takes as long.
        """
        octets = bytes(self)
        return len(octets) - len(octets.translate(None, _DELIMITERS)) + 2 * sum(map(octets.count, _ESCAPES))

    def json(self) -> JSONValue:
        """Return the content parsed by `strict_json.loads`: parsed on the first call, the same result each time.

        Raises:
            AmbiguousJSON: two parsers could read it differently.
            ValueError: it is not JSON.
        """
        if self._parsed is None:
            try:
                self._parsed = (loads(bytes(self)),)
            except ValueError as error:
                self._parsed = error
        if isinstance(self._parsed, ValueError):
            raise self._parsed.with_traceback(None)
        return self._parsed[0]

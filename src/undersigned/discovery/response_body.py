"""A response's body: read up to a limit, which counts what gzip expands to."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from undersigned.discovery.failures import UnusableDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_GZIP = 16 + zlib.MAX_WBITS


class BodyReader:
    """A reader of one response's body that never keeps more than `limit` bytes of it.

    Args:
        fields: the response's header fields by lower-case name.
        limit: upper bound on the bytes, after decoding.
        ends: takes what was read next, decoded, and returns whether the rest is not needed: for a stream that the
            server keeps open.

    Raises:
        UnusableDocument: the response says that it is larger, or has a content coding other than gzip.
    """

    __slots__ = ("_body", "_ends", "_gunzip", "_limit")

    def __init__(self, fields: Mapping[str, str], *, limit: int, ends: Callable[[bytes], bool] | None = None) -> None:
        self._limit = limit
        self._ends = ends
        self._body = bytearray()
        coding = fields.get("content-encoding", "identity").strip().lower()
        if coding not in {"identity", "gzip", "x-gzip"}:
            raise UnusableDocument("the response has a content coding other than gzip")
        self._gunzip = None if coding == "identity" else zlib.decompressobj(wbits=_GZIP)
        length = fields.get("content-length", "")
        # The HTTP client has checked that a Content-Length is a number of at most 20 digits.
        if length and int(length) > limit:
            raise self._too_large()

    def feed(self, chunk: bytes) -> bool:
        """Take the next octets of the response; return whether the rest is not needed.

        Raises:
            UnusableDocument: the body is larger than the limit, or is not gzip although the response says so.
        """
        room = self._limit - len(self._body) + 1
        added = chunk[:room] if self._gunzip is None else self._expand(chunk, room)
        self._body += added
        if len(self._body) > self._limit:
            raise self._too_large()
        return self._ends is not None and self._ends(added)

    def finish(self) -> bytes:
        """Return the body.

        Raises:
            UnusableDocument: the gzip data ends too early.
        """
        if self._gunzip is not None and not self._gunzip.eof:
            raise UnusableDocument("the gzip data of the response ends too early")
        return bytes(self._body)

    def _expand(self, chunk: bytes, room: int) -> bytes:
        assert self._gunzip is not None  # noqa: S101 - the caller has looked; this tells the type checker
        try:
            expanded = self._gunzip.decompress(chunk, room)
        except zlib.error:
            raise UnusableDocument("the response says that it is gzip, and is not") from None
        if self._gunzip.unused_data:
            raise UnusableDocument("the response has octets after its gzip data")
        return expanded

    def _too_large(self) -> UnusableDocument:
        return UnusableDocument(f"the response has more than {self._limit} bytes")

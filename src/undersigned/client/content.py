"""Content that a client is about to send: bytes, a file that can be read again, or a stream that is kept until then."""

from __future__ import annotations

import io
from collections.abc import AsyncIterable, Iterable
from typing import TYPE_CHECKING, Final, Protocol, cast

from undersigned.errors import SigningError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undersigned.message.content_digest import DigestBuilder

DEFAULT_MAX_SPOOLED: Final = 16_777_216
"""The most bytes of a stream that a client keeps by default (`max_spooled`): the signature is sent before the content.
"""

_CHUNK: Final = 65_536


class _File(Protocol):
    """A binary file that can be read again."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, /) -> int: ...
    def tell(self) -> int: ...


class DigestedContent(Protocol):
    """Content that is not in memory, with its digest."""

    @property
    def digest(self) -> str:
        """The Content-Digest."""
        ...


class FileContent:
    """Content in a file, which is read once to sign it, and again each time it is sent.

    It is a file that clients read, and rewind to send it again. It begins where the given file was, at its position 0,
    and has the length that was signed. If the given file has changed meanwhile, reading the last bytes raises
    `SigningError`, so that no receiver gets a whole request that was not signed.

    Args:
        file: a binary file that can be read again.
        builder: returns a new builder of the Content-Digest.

    Attributes:
        digest: the Content-Digest.

    Raises:
        SigningError: the file is not open in binary mode.
    """

    __slots__ = ("_builder", "_file", "_length", "_position", "_running", "_start", "digest")

    def __init__(self, file: _File, builder: Callable[[], DigestBuilder]) -> None:
        self._file = file
        self._builder = builder
        self._start = file.tell()
        self._position = self._length = 0
        self._running = builder()
        while chunk := _octets(file.read(_CHUNK)):
            self._running.update(chunk)
            self._length += len(chunk)
        self.digest = self._running.value()
        self.rewind()

    def __len__(self) -> int:
        """Return how many bytes are sent."""
        return self._length

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, or all that are left.

        Raises:
            SigningError: the file changed after it was signed.
        """
        left = self._length - self._position
        size = left if size is None or size < 0 else min(size, left)  # pyright: ignore[reportUnnecessaryComparison]
        if size == 0:
            return b""
        chunk = self._file.read(size)
        self._running.update(chunk)
        self._position += len(chunk)
        if not chunk or (self._position == self._length and self._running.value() != self.digest):
            raise SigningError("content: the file changed after it was signed; send the request again")
        return chunk

    def rewind(self) -> None:
        """Go to the beginning."""
        self._file.seek(self._start)
        self._position, self._running = 0, self._builder()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Rewind to the beginning, which is the only place that content is sent from.

        A client may have noted where the given file was, so that position is the beginning too.

        Raises:
            OSError: the place is another one.
        """
        if whence or offset not in {0, self._start}:
            raise io.UnsupportedOperation("content that is signed is sent from its beginning")
        self.rewind()
        return offset

    def tell(self) -> int:
        """Return the position in the content. Clients take it from the length to know how much is left."""
        return self._position

    def __iter__(self) -> Iterator[bytes]:
        """Yield the rest in chunks."""
        while chunk := self.read(_CHUNK):
            yield chunk


def read_content(
    body: object, builder: Callable[[], DigestBuilder], *, max_spooled: int = DEFAULT_MAX_SPOOLED
) -> bytes | FileContent:
    """Return the content of a request so that it can be signed before it is sent.

    Args:
        body: bytes, text, which is encoded as UTF-8, a binary file, an iterable of bytes, or None for no content.
        builder: returns a new builder of the Content-Digest.
        max_spooled: how many bytes to keep of a stream that cannot be read again.

    Raises:
        SigningError: `body` is something else, a file in text mode, or a stream longer than `max_spooled`.
    """
    whole = _whole(body)
    if whole is not None:
        return whole
    if isinstance(body, FileContent):
        body.rewind()
        return body
    if callable(read := getattr(body, "read", None)):
        if _is_seekable(body):
            return FileContent(cast("_File", body), builder) or b""
        body = iter(lambda: cast("bytes", read(_CHUNK)), b"")
    if isinstance(body, AsyncIterable):
        raise SigningError("content: an async generator can be sent by a client for asyncio only")
    if not isinstance(body, Iterable):
        raise SigningError(f"content: expected bytes, a binary file or an iterable of bytes, not {type(body).__name__}")
    spool = Spool(max_spooled)
    for chunk in cast("Iterable[object]", body):
        spool.add(chunk)
    return spool.content()


async def async_read_content(
    body: object, builder: Callable[[], DigestBuilder], *, max_spooled: int = DEFAULT_MAX_SPOOLED
) -> bytes | FileContent:
    """Return the content of a request as `read_content` does. The body may also be an async iterable of bytes."""
    if hasattr(body, "read") or not isinstance(body, AsyncIterable):
        return read_content(body, builder, max_spooled=max_spooled)
    spool = Spool(max_spooled)
    async for chunk in cast("AsyncIterable[object]", body):
        spool.add(chunk)
    return spool.content()


class Spool:
    """The bytes of a stream that cannot be read again, kept up to a limit.

    Args:
        most: the limit, in bytes.
    """

    __slots__ = ("_chunks", "_length", "_most")

    def __init__(self, most: int) -> None:
        self._chunks: list[bytes] = []
        self._length = 0
        self._most = most

    def add(self, chunk: object) -> None:
        """Keep the next chunk.

        Raises:
            SigningError: it is not bytes, or there are too many.
        """
        octets = _octets(chunk)
        self._length += len(octets)
        if self._length > self._most:
            raise SigningError(
                f"content: the stream has more than {self._most} bytes, and must be read before it is sent. Pass a "
                "file that can be read again, or a larger max_spooled="
            )
        self._chunks.append(octets)

    def content(self) -> bytes:
        """Return all bytes."""
        return b"".join(self._chunks)


def _whole(body: object) -> bytes | None:
    if body is None:
        return b""
    if isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    return bytes(cast("bytearray", body)) if isinstance(body, bytearray | memoryview) else None


def _octets(chunk: object) -> bytes:
    if isinstance(chunk, bytes):
        return chunk
    if isinstance(chunk, bytearray | memoryview):
        return bytes(cast("bytearray", chunk))
    raise SigningError(f"content: the stream must yield bytes, not {type(chunk).__name__}; open a file in binary mode")


def _is_seekable(file: object) -> bool:
    seekable, tell = getattr(file, "seekable", None), getattr(file, "tell", None)
    if seekable is None:
        return callable(getattr(file, "seek", None)) and callable(tell)
    return bool(seekable())

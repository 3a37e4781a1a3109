"""Content that a client is about to send. A signature is sent before its content, so the content is read first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from undersigned.errors import SigningError

if TYPE_CHECKING:
    from undersigned.message.content_digest import RunningDigest

DEFAULT_MAX_SPOOLED: Final = 16_777_216
"""The most bytes of a stream that a client keeps by default (`max_spooled`)."""

_CHUNK: Final = 65_536


class _File(Protocol):
    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, /) -> int: ...
    def tell(self) -> int: ...


@dataclass(frozen=True, slots=True)
class FileDigest:
    """The digest of content that is not kept, because it can be read again to send it.

    Attributes:
        value: the Content-Digest.
        length: how many bytes were read.
    """

    value: str
    length: int


class Spool:
    """The bytes of a stream that cannot be read again, kept up to a limit.

    Args:
        most: the limit, in bytes.
    """

    __slots__ = ("_content", "_most")

    def __init__(self, most: int) -> None:
        self._content = bytearray()
        self._most = most

    def add(self, chunk: object) -> None:
        """Keep the next chunk.

        Raises:
            SigningError: it is not bytes, or there are too many.
        """
        self._content += as_octets(chunk)
        if len(self._content) > self._most:
            raise SigningError(
                f"content: the stream has more than {self._most} bytes, and must be read before it is sent. Pass a "
                "file that can be read again, or a larger max_spooled="
            )

    def content(self) -> bytes:
        """Return all bytes."""
        return bytes(self._content)


def read_content(body: object, builder: RunningDigest, *, most: int) -> bytes | FileDigest:
    """Return the content of a request, or the digest of a file, which is then where it was before.

    Args:
        body: bytes, text, which is encoded as UTF-8, a binary file, an iterable of bytes, or None for no content.
        builder: makes the Content-Digest of a file.
        most: how many bytes to keep of a stream that cannot be read again.

    Raises:
        SigningError: `body` is something else, a file in text mode, or a stream longer than `most`.
    """
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes | bytearray | memoryview):
        return as_octets(cast("object", body))
    if is_seekable(body):
        return digest_file(body, builder)
    if callable(read := getattr(body, "read", None)):
        body = iter(lambda: read(_CHUNK), b"")
    if not isinstance(body, Iterable):
        raise SigningError(f"content: expected bytes, a binary file or an iterable of bytes, not {type(body).__name__}")
    spool = Spool(most)
    for chunk in cast("Iterable[object]", body):
        spool.add(chunk)
    return spool.content()


def digest_file(file: object, builder: RunningDigest) -> FileDigest | bytes:
    """Read the rest of a seekable file, go back to where it was, and return the digest; b"" if nothing is left.

    Raises:
        SigningError: the file is not open in binary mode.
    """
    binary = cast("_File", file)
    start, length = binary.tell(), 0
    while chunk := as_octets(binary.read(_CHUNK)):
        builder.update(chunk)
        length += len(chunk)
    binary.seek(start)
    return FileDigest(builder.value(), length) if length else b""


def is_seekable(file: object) -> bool:
    """Return whether `file` is a file that can be read again."""
    seekable = getattr(file, "seekable", None)
    return hasattr(file, "seek") and hasattr(file, "read") if seekable is None else bool(seekable())


def as_octets(chunk: object) -> bytes:
    """Return bytes of any kind as `bytes`.

    Raises:
        SigningError: it is something else.
    """
    if isinstance(chunk, bytes | bytearray | memoryview):
        return bytes(cast("bytes", chunk))
    raise SigningError(f"content: the stream must yield bytes, not {type(chunk).__name__}; open a file in binary mode")

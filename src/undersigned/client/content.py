"""Content that a client is about to send. A signature is sent before its body, so the body is read first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

from undersigned.errors import SigningError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undersigned.message.content_digest import RunningDigest

DEFAULT_MAX_SPOOLED: Final = 16_777_216
"""The most bytes of a stream that a client keeps by default (`max_spooled`)."""

_CHUNK: Final = 65_536
_CHANGED: Final = (
    "content: it changed after it was signed, so its end was not sent; pass bytes, or a file that nobody writes to"
)


class _File(Protocol):
    def read(self, size: int, /) -> object: ...
    def seek(self, offset: int, /) -> int: ...
    def tell(self) -> int: ...


class FileDigest:
    """The digest of a body that is not kept, because it can be read again to send it.

    While it is sent, `check` compares it: it is what was digested, or its end is not sent.

    Args:
        digest: the digest, before any of the body.

    Attributes:
        length: how many bytes were read.
    """

    __slots__ = ("_digest", "_left", "_sent", "length")

    def __init__(self, digest: RunningDigest) -> None:
        self._digest = digest
        self.length = 0
        self.rewind()

    @property
    def value(self) -> str:
        """The Content-Digest of what was read."""
        return self._digest.value()

    def add(self, chunk: bytes) -> None:
        """Read the next chunk."""
        self._digest.update(chunk)
        self.length += len(chunk)

    def rewind(self) -> None:
        """Begin to send the body, from its first chunk."""
        self._sent = self._digest.anew()
        self._left = self.length

    def check(self, chunk: bytes) -> bytes:
        """Return the bytes of the next chunk to send: what the body has gained since is cut off.

        Raises:
            SigningError: with this chunk, the body is complete, and is not what was digested.
        """
        part = chunk[: self._left]
        self._sent.update(part)
        self._left -= len(part)
        if not self._left and self._sent.value() != self.value:
            raise SigningError(_CHANGED)
        return part

    def end(self) -> None:
        """Note that the body ends.

        Raises:
            SigningError: it is shorter than what was digested.
        """
        if self._left:
            raise SigningError(_CHANGED)

    def each(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the chunks to send of a body that is read again, as `check` returns them."""
        self.rewind()
        for chunk in chunks:
            yield self.check(chunk)
        self.end()


class UnchangedFile(FileDigest):
    """A file as an HTTP library reads it, from where it is now: only what was digested is read.

    Args:
        file: the file, where its body begins. It is then there again. One that was signed before is read anew.
        digest: the digest, before any of the body.

    Raises:
        SigningError: the file is not open in binary mode.
    """

    __slots__ = ("_file", "_start")

    def __init__(self, file: object, digest: RunningDigest) -> None:
        if isinstance(file, UnchangedFile):
            file.rewind()
            file = file._file  # noqa: SLF001 - of this class
        self._file: _File = cast("_File", file)
        self._start = self._file.tell()
        super().__init__(digest)
        while chunk := as_octets(self._file.read(_CHUNK)):
            self.add(chunk)
        self.rewind()

    def rewind(self) -> None:
        """Go back to where the body begins."""
        self.seek(self._start)

    def seek(self, offset: int) -> None:
        """Go back to where the body begins, for a redirect. `offset` is what `tell` returned there."""
        self._file.seek(offset)
        super().rewind()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, and `b""` at the end of what was digested.

        Raises:
            SigningError: the file is not what was digested. The last bytes are then not returned.
        """
        chunk = as_octets(self._file.read(self._left if size < 0 else min(size, self._left)))
        if not chunk:
            self.end()
            return b""
        return self.check(chunk)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the body from where it begins, as `read` returns it."""
        self.rewind()
        return iter(lambda: self.read(_CHUNK), b"")

    def __len__(self) -> int:
        """Return where the body ends, as the size of a file: requests subtracts from it what `tell` returns."""
        return self._start + self.length

    def tell(self) -> int:
        """Return where the file is."""
        return self._file.tell()


class Spool:
    """The bytes of a stream that cannot be read again, kept up to a limit.

    Args:
        most: the limit, in bytes.

    Attributes:
        content: the bytes.
    """

    __slots__ = ("_most", "content")

    def __init__(self, most: int) -> None:
        self.content = bytearray()
        self._most = most

    def add(self, chunk: object) -> None:
        """Keep the next chunk.

        Raises:
            SigningError: it is not bytes, or there are too many.
        """
        self.content += as_octets(chunk)
        if len(self.content) > self._most:
            raise SigningError(
                f"content: the stream has more than {self._most} bytes, and must be read before it is sent. Pass a "
                "file that can be read again, or a larger max_spooled="
            )


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

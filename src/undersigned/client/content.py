"""Content that a client is about to send. A signature is sent before its body, so the body is read first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from undersigned.errors import SigningError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from undersigned.message.content_digest import RunningDigest

DEFAULT_MAX_SPOOLED: Final = 16_777_216
"""The most bytes of a stream that a client keeps by default (`max_spooled`)."""

CHUNK: Final = 65_536
"""How many bytes of a file are read at once."""

_CHANGED: Final = (
    "content: it changed after it was signed, so its end was not sent; pass bytes, or a file that nobody writes to"
)


class UnchangedBody:
    """A body that is not kept, because it can be read again to send it. Only what was digested is sent.

    Each iteration reads it from its start. Bytes added since are cut off, and if it has changed, its end is not sent.
    The requests library treats it as a file of this length that can be sent again.

    Args:
        digest: the digest, before any of the body.
        chunks: returns the chunks of the body, from where it begins. Without it, give each chunk to `add`, and those
            that are sent to `check`.

    Attributes:
        chunks: as given.

    Raises:
        SigningError: when it is iterated, the body is not what was digested.
    """

    __slots__ = ("_digest", "_left", "_length", "_sent", "chunks")

    def __init__(self, digest: RunningDigest, chunks: Callable[[], Iterable[bytes]] = tuple) -> None:
        self._digest = digest
        self.chunks = chunks
        self._length = 0
        for chunk in chunks():
            self.add(chunk)

    @property
    def value(self) -> str:
        """The Content-Digest of what was read."""
        return self._digest.value()

    def add(self, chunk: bytes) -> None:
        """Read the next chunk."""
        self._digest.update(chunk)
        self._length += len(chunk)

    def rewind(self) -> None:
        """Begin to send the body, from its first chunk."""
        self._sent = self._digest.anew()
        self._left = self._length

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

    def __iter__(self) -> Iterator[bytes]:
        self.rewind()
        for chunk in self.chunks():
            yield self.check(chunk)
            if not self._left:
                return
        self.end()

    def __len__(self) -> int:
        return self._length

    def seek(self, offset: int) -> None:
        """Do nothing: requests goes back to the beginning to send a file again, and iterating does so anyway."""


def from_here(file: Any) -> Callable[[], Iterator[bytes]]:
    """Return a function that reads a seekable file from where it is now to its end, and then goes back."""
    start = file.tell()

    def chunks() -> Iterator[bytes]:
        file.seek(start)
        yield from iter(lambda: as_octets(file.read(CHUNK)), b"")
        file.seek(start)

    return chunks


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

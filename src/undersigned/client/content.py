"""Content that a client is about to send. A signature is sent before its body, so the body is read first."""

from __future__ import annotations

from collections.abc import Iterable
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


_CHANGED: Final = (
    "content: it changed after it was signed, so its end was not sent; pass bytes, or a file that nobody writes to"
)


class FileDigest:
    """The digest of a body that is not kept, because it can be read again to send it.

    Args:
        digest: the digest, before any of the body.

    Attributes:
        length: how many bytes were read.
    """

    __slots__ = ("_digest", "length")

    def __init__(self, digest: RunningDigest) -> None:
        self._digest = digest
        self.length = 0

    @property
    def value(self) -> str:
        """The Content-Digest of what was read."""
        return self._digest.value()

    def update(self, chunk: bytes) -> None:
        """Read the next chunk."""
        self._digest.update(chunk)
        self.length += len(chunk)

    def sending(self) -> Sending:
        """Return a check of the body while it is read again to be sent."""
        return Sending(self._digest.anew(), length=self.length, value=self.value)


class Sending:
    """A check of a body that is read again to be sent: it is what was digested, or its end is not sent.

    Attributes:
        left: how many bytes are still to be sent.
    """

    __slots__ = ("_digest", "_value", "left")

    def __init__(self, digest: RunningDigest, *, length: int, value: str) -> None:
        self._digest = digest
        self._value = value
        self.left = length

    def check(self, chunk: bytes) -> bytes:
        """Return the bytes of the next chunk to send: what the body has gained since is cut off.

        Raises:
            SigningError: with this chunk, the body is complete, and is not what was digested.
        """
        part = chunk[: self.left]
        self._digest.update(part)
        self.left -= len(part)
        if not self.left and self._digest.value() != self._value:
            raise SigningError(_CHANGED)
        return part

    def end(self) -> None:
        """Note that the body ends.

        Raises:
            SigningError: it is shorter than what was digested.
        """
        if self.left:
            raise SigningError(_CHANGED)


class UnchangedFile:
    """A file as an HTTP library reads it, from where it is now: only what was digested is read.

    Args:
        file: the file, where its body begins.
        digest: the digest of its body.
    """

    __slots__ = ("_digest", "_file", "_sending", "_start")

    def __init__(self, file: object, digest: FileDigest) -> None:
        self._file = cast("_File", file)
        self._start = self._file.tell()
        self._digest = digest
        self._sending = digest.sending()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, and `b""` at the end of what was digested.

        Raises:
            SigningError: the file is not what was digested. The last bytes are then not returned.
        """
        left = self._sending.left
        chunk = self._file.read(left if size < 0 else min(size, left))
        if not chunk:
            self._sending.end()
            return b""
        return self._sending.check(chunk)

    def __len__(self) -> int:
        """Return where the body ends, as the size of a file: requests subtracts from it what `tell` returns."""
        return self._start + self._digest.length

    def tell(self) -> int:
        """Return where the file is."""
        return self._file.tell()

    def seek(self, offset: int) -> None:
        """Go back to where the body begins, for a redirect. `offset` is what `tell` returned there."""
        self._file.seek(offset)
        self._sending = self._digest.sending()


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


def read_content(body: object, digest: FileDigest, *, most: int) -> bytes | FileDigest:
    """Return the body of a request as `ClientSigner.read` does.

    Args:
        body: the body.
        digest: becomes the digest of a file.
        most: how many bytes to keep of a stream that cannot be read again.
    """
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes | bytearray | memoryview):
        return as_octets(cast("object", body))
    if is_seekable(body):
        return digest_file(body, digest)
    if callable(read := getattr(body, "read", None)):
        body = iter(lambda: read(_CHUNK), b"")
    if not isinstance(body, Iterable):
        raise SigningError(f"content: expected bytes, a binary file or an iterable of bytes, not {type(body).__name__}")
    spool = Spool(most)
    for chunk in cast("Iterable[object]", body):
        spool.add(chunk)
    return spool.content()


def digest_file(file: object, digest: FileDigest) -> FileDigest | bytes:
    """Read the rest of a seekable file, go back to where it was, and return the digest; b"" if nothing is left.

    Raises:
        SigningError: the file is not open in binary mode.
    """
    binary = cast("_File", file)
    start = binary.tell()
    while chunk := as_octets(binary.read(_CHUNK)):
        digest.update(chunk)
    binary.seek(start)
    return digest if digest.length else b""


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

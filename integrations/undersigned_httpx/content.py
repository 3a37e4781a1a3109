"""Content that is signed before it is sent: from memory, or read once to sign it and again to send it."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from undersigned import SigningError
from undersigned.client import FileContent

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.client import ClientSigner

    from .messages import Request

_ASYNC = "content: an async stream can be sent by an AsyncClient only"


class SignedStream:
    """A stream of content that was read to sign it, and is read again each time it is sent.

    A mixin for a library's classes of streams.

    Args:
        content: the content.

    Attributes:
        content: as given.
    """

    def __init__(self, content: FileContent | AsyncContent) -> None:
        self.content = content

    def __iter__(self) -> Iterator[bytes]:
        """Yield the content.

        Raises:
            SigningError: it is not what was signed. The last bytes are not sent then.
        """
        if not isinstance(self.content, FileContent):
            raise SigningError(_ASYNC)
        self.content.rewind()
        yield from self.content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the content as `__iter__` does."""
        if isinstance(self.content, FileContent):
            for chunk in self:
                yield chunk
        else:
            async for chunk in self.content:
                yield chunk


class _Kept:
    """A buffer that keeps the bytes of a stream, unless they are more than a limit.

    Args:
        most: the limit, in bytes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._chunks: list[bytes] = []
        self.length = 0

    def add(self, chunk: object) -> bytes:
        """Keep the next chunk if the limit allows it, and return it as bytes."""
        if not isinstance(chunk, bytes | bytearray | memoryview):
            raise SigningError(
                f"content: the stream must yield bytes, not {type(chunk).__name__}; open a file in binary mode"
            )
        octets = bytes(cast("bytes", chunk))
        self.length += len(octets)
        if self.length <= self._most:
            self._chunks.append(octets)
        else:
            self._chunks.clear()
        return octets

    def content(self) -> bytes | None:
        """Return all bytes, or None if there were more than the limit."""
        return b"".join(self._chunks) if self.length <= self._most else None


class _Rewound:
    """A file, as `FileContent` reads it, over an iterable that can be read again.

    Args:
        chunks: the iterable.
        most: how many bytes to keep when it is read for the first time.

    Attributes:
        content: all bytes, once they have been read, or None if there are more than `most`.
    """

    def __init__(self, chunks: Iterable[bytes], most: int) -> None:
        self._chunks = chunks
        self._rest = iter(chunks)
        self._left = memoryview(b"")
        self._kept: _Kept | None = _Kept(most)
        self.content: bytes | None = None

    def read(self, size: int, /) -> bytes:
        while not self._left:
            chunk = next(self._rest, None)
            if chunk is None:
                return b""
            self._left = memoryview(chunk if self._kept is None else self._kept.add(chunk))
        read, self._left = bytes(self._left[:size]), self._left[size:]
        return read

    def seek(self, offset: int, /) -> int:
        if self._kept is not None:
            self.content, self._kept = self._kept.content(), None
        self._rest, self._left = iter(self._chunks), memoryview(b"")
        return offset

    def tell(self) -> int:
        return 0


class AsyncContent:
    """Content of an async iterable that can be read again, once `first` has read it.

    Args:
        chunks: the iterable.
        signer: makes the Content-Digest.

    Attributes:
        digest: the Content-Digest.
    """

    def __init__(self, chunks: AsyncIterable[bytes], signer: ClientSigner) -> None:
        self._chunks = chunks
        self._signer = signer
        self._length = 0
        self.digest = ""

    async def first(self) -> AsyncContent | bytes:
        """Read the content for its digest. Return it as bytes if it is short, as the signer limits it."""
        running, kept = self._signer.digest_builder(), _Kept(self._signer.max_spooled)
        async for chunk in self._chunks:
            running.update(kept.add(chunk))
        self.digest, self._length = running.value(), kept.length
        content = kept.content()
        return self if content is None else content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the content; its last chunk only if all of it is what was signed.

        Raises:
            SigningError: it is not.
        """
        running, length, last = self._signer.digest_builder(), 0, b""
        async for chunk in self._chunks:
            if not chunk:
                continue
            if last:
                yield last
            running.update(chunk)
            length += len(chunk)
            last = chunk
            if length > self._length:
                break
        if length != self._length or running.value() != self.digest:
            raise SigningError("content: the stream yields other bytes than when it was signed; pass bytes or a file")
        yield last


def read(request: Request, signer: ClientSigner, streams: Callable[[FileContent | AsyncContent], object]) -> None:
    """Read the content of `request` so that it can be signed.

    A file, or a form of files, is read in chunks. Another stream is kept, up to `max_spooled` bytes of the signer.
    Above that, it must be an iterable that can be read again.

    Args:
        request: the request, whose stream is replaced.
        signer: signs it then.
        streams: the library's class of `SignedStream`.

    Raises:
        SigningError: it is a longer stream that cannot be read again, or does not yield bytes.
    """
    stream = request.stream
    if isinstance(stream, SignedStream) or _is_read(request):
        return
    if not isinstance(stream, Iterable):
        raise SigningError(_ASYNC)
    given, files = _given_content(request.stream), _files(request.stream)
    if isinstance(given, bytes) or hasattr(given, "read"):
        content = signer.read(given)
    elif isinstance(given, Iterator) or not all(map(_is_readable_again, files or ())):
        content = signer.read(iter(request.stream))
    else:
        # Only a form is known to be the same when it is read again. Anything else is kept, if it is short.
        rewound = _Rewound(request.stream, signer.max_spooled if files is None else 0)
        file = FileContent(rewound, signer.digest_builder)
        content = file if rewound.content is None else rewound.content
    _put(request, content, streams)


async def async_read(
    request: Request, signer: ClientSigner, streams: Callable[[FileContent | AsyncContent], object]
) -> None:
    """Read the content of `request` as `read` does, also of an async stream."""
    stream = request.stream
    if isinstance(stream, SignedStream) or _is_read(request):
        return
    if not isinstance(stream, AsyncIterable):
        raise SigningError("content: a sync file or iterable can be sent by a Client only; both send files=")
    given = _given_content(request.stream)
    if isinstance(given, bytes) or _files(request.stream) is not None:
        read(request, signer, streams)
        return
    if isinstance(given, AsyncIterator):
        _put(request, await signer.async_read(request.stream), streams)
    else:
        _put(request, await AsyncContent(request.stream, signer).first(), streams)


def _put(
    request: Request,
    content: bytes | FileContent | AsyncContent,
    streams: Callable[[FileContent | AsyncContent], object],
) -> None:
    if isinstance(content, bytes):
        request.stream = (content,)
        request.read()
    else:
        request.stream = streams(content)


def _is_read(request: Request) -> bool:
    try:
        _ = request.content
    except RuntimeError:  # both libraries say so that the content has not been read
        return False
    return True


def _given_content(stream: object) -> object:
    """Return the `content=` of a request.

    Both libraries have no public name for it. It tells a generator, which can be read once, from a list. Without it,
    only reading the content would tell, and a generator would then be gone.
    """
    return getattr(stream, "_stream", stream)


def _files(stream: object) -> list[object] | None:
    """Return the files of a form, or None if it is not a form.

    Both libraries have no public class for the stream of a form, so it is known by its attributes.
    """
    fields: list[Any] | None = getattr(stream, "fields", None)
    return None if fields is None else [field.file for field in fields if hasattr(field, "file")]


def _is_readable_again(file: object) -> bool:
    seekable = getattr(file, "seekable", None)
    return isinstance(file, str | bytes) or (hasattr(file, "seek") if seekable is None else bool(seekable()))

"""The content of aiohttp's requests: read before it is signed, and replaced if it cannot be read again."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, cast

from aiohttp.multipart import MultipartWriter
from aiohttp.payload import BytesPayload, IOBasePayload, Payload

from undersigned import SigningError
from undersigned.client import Spool

if TYPE_CHECKING:
    from aiohttp import ClientRequest
    from aiohttp.abc import AbstractStreamWriter

    from undersigned.client import ClientSigner, DigestedContent


async def read_content(request: ClientRequest, signer: ClientSigner) -> bytes | DigestedContent:
    """Return the content of `request`, or its digest if it can be read again.

    Content that cannot be read again is kept, and replaces itself.

    Raises:
        SigningError: there is more of it than the signer's `max_spooled`, or it would be compressed.
    """
    if request.compress:
        raise SigningError("compress: it changes the content after it is signed; compress it, and set Content-Encoding")
    payload = request.body
    if not isinstance(payload, Payload):
        return b""
    length = request.headers.get("Content-Length")
    reader = _Reader(signer) if _can_be_read_again(payload) else _Keeper(signer)
    await payload.write_with_length(cast("AbstractStreamWriter", reader), None if length is None else int(length))
    if isinstance(reader, _Reader):
        return reader if reader.size else b""
    content = reader.spool.content()
    # Bytes that are not in a file make aiohttp warn if there are many.
    await request.update_body(io.BytesIO(content))
    return content


class _Reader:
    """A writer that makes the digest of what is written. It has only the method that aiohttp's payloads call."""

    def __init__(self, signer: ClientSigner) -> None:
        self._builder = signer.digest_builder()
        self.size = 0

    @property
    def digest(self) -> str:
        return self._builder.value()

    async def write(self, chunk: bytes | bytearray | memoryview[int]) -> None:
        octets = bytes(chunk)
        self.size += len(octets)
        self._builder.update(octets)


class _Keeper:
    """A writer that keeps what is written."""

    def __init__(self, signer: ClientSigner) -> None:
        self.spool = Spool(signer.max_spooled)

    async def write(self, chunk: bytes | bytearray | memoryview[int]) -> None:
        self.spool.add(chunk)


def _can_be_read_again(payload: Payload) -> bool:
    if isinstance(payload, MultipartWriter):
        # A compressor need not write the same octets twice.
        return all(not compressed and _can_be_read_again(part) for part, compressed, _ in payload)
    # The size of a file is known only if aiohttp can tell where in the file it is.
    return isinstance(payload, BytesPayload | IOBasePayload) and payload.size is not None

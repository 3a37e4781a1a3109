"""The middleware that signs what aiohttp's client sends."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING, cast

from aiohttp.base_protocol import BaseProtocol
from aiohttp.multipart import MultipartWriter
from aiohttp.payload import BytesPayload, IOBasePayload, Payload
from aiohttp.streams import StreamReader
from yarl import URL

from undersigned import SigningError
from undersigned.client import DEFAULT_MAX_SPOOLED, ClientSigner, FileDigest, Spool

if TYPE_CHECKING:
    from aiohttp import ClientHandlerType, ClientRequest, ClientResponse
    from aiohttp.abc import AbstractStreamWriter

    from undersigned.client import AnySigner, ConfiguredOrigins, ResponseVerification, SignedRequest, SignerSource


class SigningMiddleware:
    """A client middleware that signs every request: `ClientSession(middlewares=[SigningMiddleware(signer, ...)])`.

    Put it last, so that other middlewares run before it. aiohttp calls it for each attempt: each redirect and each
    retry has its own signature. The request is sent to the canonical form of its URL. Content is read before it is
    sent. A file is read again to send it; a generator is kept, up to `max_spooled` bytes. A WebSocket handshake is
    signed as the http request that it is.

    A redirect within the listed origins is signed for its own URL, method and content. A request or redirect to any
    other origin raises `SigningError`, and nothing of it is sent. `response.signature` is the verified signature of the
    response, if responses are verified.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that is answered with 401 is sent once more by the other scheme.
        origins: the origins to sign for, such as `https://seller.example.com`; or a function of an origin. An origin
            with a path, such as `https://seller.example.com/api`, allows only what is below that path.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        responses: verifies the response to each request, also a redirect or an error, before you get it. None: no
            response is verified.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    def __init__(
        self,
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
    ) -> None:
        self._signer = ClientSigner(signer, origins, max_spooled=max_spooled, responses=responses)

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Sign `request` and send it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the request lacks what the signature covers, or aiohttp would
                compress it.
            SignatureError: the response is rejected.
        """
        by: AnySigner | None = None
        content = await _read(request, self._signer)
        # aiohttp encodes header fields as UTF-8.
        fields = [
            (name, value.encode("utf-8", "surrogateescape").decode("latin-1"))
            for name, value in request.headers.items()
        ]
        while True:
            signed = await self._signer.async_sign(request.method, str(request.url), fields, content, by=by)
            request.url = URL(signed.url, encoded=True)
            request.headers.clear()
            for name, value in signed.headers:
                request.headers.add(name, value.encode("latin-1").decode("utf-8", "surrogateescape"))
            response = await handler(request)
            await self._verify(signed, response)
            other = self._signer.note_answer(signed, response.status)
            if by is not None or other is None:
                return response
            response.close()
            by = other

    async def _verify(self, signed: SignedRequest, response: ClientResponse) -> None:
        """Read and verify a response, if responses are verified. It then has its content in memory."""
        responses = self._signer.responses
        if responses is None:
            return
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers]
        try:
            content = await responses.async_read(response.content.iter_any())
            verified = await responses.async_verify(signed, response.status, fields, content)
        except BaseException:
            response.close()
            raise
        loop = asyncio.get_running_loop()
        # aiohttp has no public way to make a stream of content, but for a class of its protocols.
        stream = StreamReader(BaseProtocol(loop), len(content) + 1, loop=loop)
        stream.feed_data(content)
        stream.feed_eof()
        response.content = stream
        vars(response)["signature"] = verified


class _Reader:
    """A writer that reads content: it makes the digest, or keeps what is written.

    It has only the method that aiohttp's payloads call.
    """

    def __init__(self, signer: ClientSigner, spool: Spool | None) -> None:
        self.builder = signer.digest_builder()
        self.length = 0
        self._spool = spool

    async def write(self, chunk: bytes | bytearray | memoryview[int]) -> None:
        if self._spool is not None:
            self._spool.add(chunk)
            return
        octets = bytes(chunk)
        self.length += len(octets)
        self.builder.update(octets)


async def _read(request: ClientRequest, signer: ClientSigner) -> bytes | FileDigest:
    """Return the content of `request`, or its digest if it can be read again. Other content is kept.

    Raises:
        SigningError: there is more of it than the signer's `max_spooled`, or it would be compressed.
    """
    if request.compress:
        raise SigningError("compress: it changes the content after it is signed; compress it, and set Content-Encoding")
    payload = request.body
    if not isinstance(payload, Payload):
        return b""
    length = request.headers.get("Content-Length")
    spool = None if _can_be_read_again(payload) else Spool(signer.max_spooled)
    reader = _Reader(signer, spool)
    await payload.write_with_length(cast("AbstractStreamWriter", reader), None if length is None else int(length))
    if spool is None:
        return FileDigest(reader.builder.value(), reader.length) if reader.length else b""
    content = spool.content()
    # Bytes that are not in a file make aiohttp warn if there are many.
    await request.update_body(io.BytesIO(content))
    return content


def _can_be_read_again(payload: Payload) -> bool:
    if isinstance(payload, MultipartWriter):
        # A compressor need not write the same octets twice.
        return all(not compressed and _can_be_read_again(part) for part, compressed, _ in payload)
    # The size of a file is known only if aiohttp can tell where in the file it is.
    return isinstance(payload, BytesPayload | IOBasePayload) and payload.size is not None

"""The middleware that signs what aiohttp's client sends."""

from __future__ import annotations

import asyncio
import io
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from aiohttp import ClientError, ClientRequest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.multipart import MultipartWriter
from aiohttp.payload import BytesPayload, IOBasePayload, Payload
from aiohttp.streams import StreamReader
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from undersigned import SigningError
from undersigned.client import ClientSigner, ListedOrigins, Received, UnchangedBody

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Unpack

    from aiohttp import ClientHandlerType, ClientResponse
    from aiohttp.abc import AbstractStreamWriter
    from aiohttp.client_reqrep import ConnectionKey

    from undersigned.client import SentContent, SignedRequest, SignerSource, SigningOptions, VerifiedResponse


class SigningMiddleware:
    """A client middleware that signs every request: `ClientSession(middlewares=[SigningMiddleware(signer, ...)])`.

    Put it last, so that other middlewares run before it. aiohttp calls it for each attempt: each redirect and each
    retry has its own signature. The request is sent to the canonical form of its URL. Content is read before it is
    sent. A file is read again to send it; a generator is kept, up to `max_spooled` bytes. A WebSocket handshake is
    signed as the http request that it is.

    A redirect within the listed origins is signed for its own URL, method and body. A request or redirect to any
    other origin raises `SigningError` before it is sent. `response.signature` is the verified signature of the
    response, if responses are verified.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that the receiver refuses is sent once more by the other scheme.
        options: as in `undersigned.client.SigningOptions`.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    def __init__(self, signer: SignerSource, **options: Unpack[SigningOptions]) -> None:
        self._signer = ClientSigner(signer, is_async=True, **options)

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Sign `request` and send it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the request lacks what the signature covers, or aiohttp would
                compress it.
            SignatureError: the response is rejected.
        """
        content = await _read(request, self._signer)
        # aiohttp encodes headers as UTF-8.
        fields = [
            (name, value.encode("utf-8", "surrogateescape").decode("latin-1"))
            for name, value in request.headers.items()
        ]
        method, url = request.method, str(request.url)
        if not isinstance(request, _GuardedRequest):
            request.__class__ = _guarded(type(request))
            vars(request)["_origins"] = self._signer.origins

        async def send(signed: SignedRequest) -> Received[ClientResponse]:
            request.url = URL(signed.url, encoded=True)
            request.headers.clear()
            for name, value in signed.headers:
                request.headers.add(name, _as_text(value))
            try:
                response = await handler(request)
            except ClientError as failure:
                # aiohttp has wrapped what a body raises.
                if isinstance(failure.__cause__, SigningError):
                    raise failure.__cause__ from None
                raise
            headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers]
            chunks = response.content.iter_any()
            return Received(response, response.status, headers, chunks, _replace, response.close)

        return await self._signer.exchange(method, url, fields, content, send)


def _replace(response: ClientResponse, verified: VerifiedResponse) -> None:
    """Make a response the one that was verified, with its body in memory."""
    loop = asyncio.get_running_loop()
    # aiohttp has no public way to make a stream of content, but for a class of its protocols.
    stream = StreamReader(BaseProtocol(loop), len(verified.content) + 1, loop=loop)
    stream.feed_data(verified.content)
    stream.feed_eof()
    response.content = stream
    headers = CIMultiDict((name, _as_text(value)) for name, value in verified.headers)
    cookies = tuple(headers.getall("Set-Cookie", ())) or None
    raw = tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in verified.headers)
    vars(response).update(_headers=CIMultiDictProxy(headers), _raw_headers=raw, signature=verified.signature)
    vars(response).update(_raw_cookie_headers=cookies, _cookies=None)
    vars(response)["_cache"].clear()  # aiohttp keeps there what it has read of the fields


def _as_text(value: str) -> str:
    """Return a value as aiohttp decodes and encodes it, as UTF-8."""
    return value.encode("latin-1").decode("utf-8", "surrogateescape")


class _GuardedRequest(ClientRequest):
    """A request that aiohttp connects to a listed origin only, wherever a middleware inside of ours leads it."""

    _origins: ListedOrigins

    @property
    def connection_key(self) -> ConnectionKey:
        self._origins.check(str(self.url))
        return super().connection_key


def _guarded(kind: type[ClientRequest]) -> type[_GuardedRequest]:
    """Return a class of guarded requests for the `request_class` of a session."""
    return type(_GuardedRequest.__name__, (_GuardedRequest, kind), {}) if kind is not ClientRequest else _GuardedRequest


def _writer(write: Callable[[bytes], Awaitable[None]]) -> AbstractStreamWriter:
    """Return a writer that has only the method that aiohttp's payloads call."""
    return cast("AbstractStreamWriter", SimpleNamespace(write=write))


class _Unchanged(Payload):
    """A payload that can be read again. Of its body, only what `content` has digested is sent."""

    def __init__(self, payload: Payload, content: UnchangedBody) -> None:
        super().__init__(payload, headers=payload.headers)
        self.payload = payload
        self._content = content
        self._size = len(content)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self.payload.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        self._content.rewind()
        await self.payload.write_with_length(_writer(lambda chunk: writer.write(self._content.check(chunk))), None)
        self._content.end()

    async def close(self) -> None:
        await self.payload.close()


async def _read(request: ClientRequest, signer: ClientSigner) -> SentContent:
    """Return the body of `request`, or its digest if it can be read again. Other content is kept.

    Raises:
        SigningError: there is more of it than the signer's `max_spooled`, or it would be compressed.
    """
    if request.compress:
        raise SigningError(
            "compress: aiohttp would change the body after it is signed; compress it yourself, and set Content-Encoding"
        )
    payload = request.body
    if not isinstance(payload, Payload):
        return b""
    if isinstance(payload, _Unchanged):  # it is sent again
        payload = payload.payload
    length = request.headers.get("Content-Length")
    unchanged = signer.unchanged() if _can_be_read_again(payload) else None
    kept = bytearray()

    async def take(chunk: bytes) -> None:
        signer.keep(kept, chunk) if unchanged is None else unchanged.add(chunk)

    await payload.write_with_length(_writer(take), None if length is None else int(length))
    if unchanged is not None:
        vars(request)["_body"] = _Unchanged(payload, unchanged)
        return unchanged or b""
    # Bytes that are not in a file make aiohttp warn if there are many.
    await request.update_body(io.BytesIO(kept))
    return bytes(kept)


def _can_be_read_again(payload: Payload) -> bool:
    if isinstance(payload, MultipartWriter):
        # A compressor need not write the same octets twice.
        return all(not compressed and _can_be_read_again(part) for part, compressed, _ in payload)
    # The size of a file is known only if aiohttp can tell where in the file it is.
    return isinstance(payload, BytesPayload | IOBasePayload) and payload.size is not None

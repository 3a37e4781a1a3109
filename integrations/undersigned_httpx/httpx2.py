"""The auth and the transports that sign what httpx2 sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from . import auth, headers, transports
from .content import SignedStream

if TYPE_CHECKING:
    from undersigned.client import FileContent

    from .content import AsyncContent
    from .headers import Field


class _SignedHeaders(headers.SignedHeaders, httpx2.Headers):
    plain = httpx2.Headers


class _SignedStream(SignedStream, httpx2.SyncByteStream, httpx2.AsyncByteStream):
    pass


class _Streaming:
    def _stream(self, content: FileContent | AsyncContent) -> object:
        return _SignedStream(content)

    def _byte_stream(self, content: bytes) -> object:
        return httpx2.ByteStream(content)


class SignatureAuth(_Streaming, auth.SigningAuth[httpx2.Request, httpx2.Response], httpx2.Auth):
    """An auth that signs every request of a sync or async client. Safe to share between threads and clients.

    The request is sent to the canonical form of its URL. Its content is read before it is sent, a file again to send
    it. It needs a Content-Type, which httpx2 sets only for `json=`, `data=` and `files=`.

    If a request hook or a transport changes the request after signing, `SigningError` is raised before it is sent.

    httpx2 does not call an auth for a redirect, or for a retry by a transport. Each of them is signed when it is
    written; `response.request` is then the request before it was signed. A redirect that leaves the listed origins or
    their listed paths raises `SigningError`. A transport without httpcore does not say when it writes: with it, any
    redirect raises `SigningError`, and `SignatureTransport` around it signs each attempt.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now.
        origins: the origins to sign for, such as `https://seller.example.com`. An origin with a path, such as
            `https://seller.example.com/api`, allows only what is below that path.
        follow_unsigned: whether to follow a redirect that leaves the listed origins, without a signature; with a
            transport without httpcore, any redirect.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        responses: verifies the response to each request, also a redirect or an error, before you get it. None: no
            response is verified.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    def _replace(self, request: httpx2.Request, url: str, fields: list[Field], signature: list[Field]) -> None:
        if str(request.url) != url:  # parsing takes longer than signing
            request.url = httpx2.URL(url)
        request.headers = _SignedHeaders(fields, signature)


class _Copying(_Streaming):
    def _copy(
        self, request: httpx2.Request, url: str, fields: list[Field], extensions: dict[str, object]
    ) -> httpx2.Request:
        return httpx2.Request(request.method, url, headers=fields, stream=request.stream, extensions=extensions)


class SignatureTransport(_Copying, transports.SigningTransport[httpx2.Request, httpx2.Response], httpx2.BaseTransport):
    """A transport that signs every request it sends: `Client(transport=SignatureTransport(HTTPTransport(), ...))`.

    A redirect within the listed origins is signed for its own URL, method and content. A redirect that leaves them or
    their listed paths raises `SigningError`. A transport that retries may be around this one or inside it: each attempt
    is signed. `response.request` is the request before it was signed.

    A client that also talks to other origins mounts the transport: `mounts={"https://seller.example.com": transport}`.
    A redirect that leads to another transport of the client is not checked, and has no signature.

    Args:
        transport: sends what is signed.
        signer: makes the signatures; or a function that returns the signer to use now.
        origins: the origins to sign for, as for `SignatureAuth`.
        follow_unsigned: whether to follow a redirect that leaves the listed origins, without a signature.
        max_spooled: how many bytes to keep of content that cannot be read again, as for `SignatureAuth`.
        responses: verifies the response to each request, as for `SignatureAuth`.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """


class AsyncSignatureTransport(
    _Copying, transports.AsyncSigningTransport[httpx2.Request, httpx2.Response], httpx2.AsyncBaseTransport
):
    """`SignatureTransport` for an `AsyncClient`."""

"""The middleware that signs what aiohttp's client sends."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING

from aiohttp.base_protocol import BaseProtocol
from aiohttp.streams import StreamReader
from yarl import URL

from undersigned import ConfigurationError, SigningError
from undersigned.client import DEFAULT_MAX_SPOOLED, SIGNATURE_FIELDS, ClientSigner

from .content import read_content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import ClientHandlerType, ClientRequest, ClientResponse
    from multidict import CIMultiDict, CIMultiDictProxy

    from undersigned.client import ConfiguredOrigins, ResponseVerification, SignedRequest, SignerSource

_HOPS_KEPT = 16
"""How many requests of one task are remembered: other middlewares may send requests of their own in between."""

_hops: ContextVar[tuple[tuple[object, str | None], ...]] = ContextVar("hops", default=())
"""For each request of this task: its timer, which its redirects share, and the origin last signed for, or None."""


class SigningMiddleware:
    """A client middleware that signs every request: `ClientSession(middlewares=[SigningMiddleware(signer, ...)])`.

    Put it last, so that other middlewares run before it. aiohttp calls it for each attempt: each redirect and each
    retry has its own signature. The request is sent to the canonical form of its URL. Content is read before it is
    sent. A file is read again to send it; a generator is kept, up to `max_spooled` bytes.

    A redirect within the listed origins is signed for its own URL, method and content. A redirect that leaves them or
    their listed paths raises `SigningError`.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that is answered with 401 is sent once more by the other scheme.
        origins: the origins to sign for, such as `https://seller.example.com`. An origin with a path, such as
            `https://seller.example.com/api`, allows only what is below that path.
        follow_unsigned: whether to follow a redirect that leaves the listed origins, without a signature.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        responses: verifies the response to each request, also a redirect or an error, before you get it. None: no
            response is verified. It does not ask for compression, because aiohttp does not show compressed
            content as it was sent.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    def __init__(
        self,
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        follow_unsigned: bool = False,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
    ) -> None:
        self._signer = ClientSigner(
            signer,
            origins,
            follow_unsigned=follow_unsigned,
            max_spooled=max_spooled,
            tries_again=True,
            responses=responses,
        )

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Sign `request` and send it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, or a redirect leaves the listed origins. Or the request lacks what
                the signature covers, aiohttp would compress it, or a middleware after this one changed it.
            SignatureError: the response is rejected.
        """
        hop, hops = _hop(request), _hops.get()
        before = [origin for known, origin in hops if known is hop]
        if before:
            # aiohttp sends the caller's `Host` to every origin that a redirect leads to.
            request.headers["Host"] = request.url.host_port_subcomponent or ""
        if before and not self._signer.signs_redirect(before[-1], str(request.url)):
            for name in SIGNATURE_FIELDS:
                request.headers.popall(name, None)
            _hops.set((*hops[-_HOPS_KEPT + 1 :], (hop, None)))
            return await handler(request)
        if self._signer.responses is not None:
            request.headers["Accept-Encoding"] = "identity"
        signed, response = await self._send(request, handler, self._signer, hop)
        wanted = ", ".join(response.headers.getall("Accept-Signature", ()))
        again = self._signer.second_try(signed, response.status, wanted)
        if again is None:
            return response
        response.close()
        for name, _ in signed.signature:
            request.headers.popall(name, None)
        signed, response = await self._send(request, handler, again, hop)
        self._signer.second_try(signed, response.status, None)
        return response

    async def _send(
        self, request: ClientRequest, handler: ClientHandlerType, signer: ClientSigner, hop: object
    ) -> tuple[SignedRequest, ClientResponse]:
        """Sign and send a request. Return it as it was signed, and its response."""
        content = await read_content(request, signer)
        signed = await signer.async_sign(
            request.method,
            str(request.url),
            _fields(request.headers),
            content,
            has_body=bool(content) or "Transfer-Encoding" in request.headers,
        )
        _put(request, signed)
        _hops.set((*_hops.get()[-_HOPS_KEPT + 1 :], (hop, signed.origin)))
        response = await handler(request)
        _check(response, signed)
        if signer.responses is not None:
            await _verify(response, signed, signer.responses)
        return signed, response


def _hop(request: ClientRequest) -> object:
    """Return the timer of a request. Only its redirects and retries have the same one.

    aiohttp has no public name for anything that these share and other requests of the session do not.

    Raises:
        ConfigurationError: aiohttp has changed this.
    """
    attributes: Mapping[str, object] = vars(request)
    timer = attributes.get("_timer")
    if timer is None:
        raise ConfigurationError("aiohttp: redirects of this version cannot be recognized; install another version")
    return timer


def _put(request: ClientRequest, signed: SignedRequest) -> None:
    """Give the request its canonical URL and its signature."""
    request.url = URL(signed.url, encoded=True)
    for name in (*SIGNATURE_FIELDS, *(name for name, _ in signed.signature)):
        request.headers.popall(name, None)
    request.headers.extend(signed.signature)
    request.headers["Host"] = signed.authority


def _check(response: ClientResponse, signed: SignedRequest) -> None:
    """Check that the request was sent as it was signed.

    Raises:
        SigningError: it was changed.
    """
    sent = response.request_info
    fields = (*signed.fields, *signed.signature)
    names = {*signed.covered, *SIGNATURE_FIELDS}
    expected = sorted((name.lower(), value) for name, value in fields if name.lower() in names)
    found = sorted((name.lower(), value) for name, value in _fields(sent.headers) if name.lower() in names)
    if (sent.method, str(sent.url), found) == (signed.method, signed.url, expected):
        return
    response.close()
    raise SigningError("signature: the request was changed after it was signed; put SigningMiddleware last")


async def _verify(response: ClientResponse, signed: SignedRequest, responses: ResponseVerification) -> None:
    """Read and verify a response. It then has its content in memory.

    Raises:
        SignatureError: it is rejected, and closed.
    """
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers]
    try:
        content = await responses.async_read(response.content.iter_any())
        await responses.async_verify(signed, response.status, fields, content)
    except BaseException:
        response.close()
        raise
    loop = asyncio.get_running_loop()
    # aiohttp has no public way to make a stream of content, but for a class of its protocols.
    stream = StreamReader(BaseProtocol(loop), len(content) + 1, loop=loop)
    stream.feed_data(content)
    stream.feed_eof()
    response.content = stream


def _fields(headers: CIMultiDict[str] | CIMultiDictProxy[str]) -> list[tuple[str, str]]:
    """Return the header fields as they are sent: aiohttp encodes them as UTF-8."""
    return [(name, value.encode("utf-8", "surrogateescape").decode("latin-1")) for name, value in headers.items()]

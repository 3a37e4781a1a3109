"""The transports that sign, for both libraries. Each library's module adds its own classes."""

from __future__ import annotations

import gc
import inspect
import logging
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from undersigned import SigningError
from undersigned.client import ClientSigner, FileDigest, Spool, digest_file, finish, is_seekable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from typing import Self, Unpack

    from undersigned.client import SignedRequest, SignerSource, SigningOptions

logger = logging.getLogger("undersigned")

_START = "undersigned.start"
"""The request extension with the place in a file where the body begins. A redirect inherits it."""

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")
TransportT = TypeVar("TransportT")

_MOST_CALLERS, _MOST_AROUND = 12, 6
"""How far the client is looked for among the callers, and a transport that signs inside of another one."""

_LEFT = (
    "content: a redirect leads to a transport of the client that does not sign, so the body is not sent; mount a "
    "SignatureTransport for each origin, or do not follow redirects"
)

_PAST = (
    "httpx sends requests for %s past the transport that signs, because of proxy= or mounts= of the client, so they "
    "have no signature; give the proxy to the inner transport: SignatureTransport(HTTPTransport(proxy=...), ...), or "
    "mount a SignatureTransport"
)


class _CheckedStream:
    """Content of a file or form, of which only what was digested is sent."""

    def __init__(self, stream: Any, digest: FileDigest) -> None:
        self._stream_to_check = stream
        self._digest = digest

    def __iter__(self) -> Iterator[bytes]:
        sending = self._digest.sending()
        for chunk in self._stream_to_check:
            yield sending.check(chunk)
        sending.end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        sending = self._digest.sending()
        async for chunk in self._stream_to_check:
            yield sending.check(chunk)
        sending.end()


class _GuardedStream:
    """Content of a request that was signed. Only a transport that signs takes the stream out of it.

    httpx makes a redirected request with the stream of the request before. It may be sent by another transport of the
    client, to an origin that nobody listed.
    """

    def __init__(self, stream: Any) -> None:
        self.guarded = stream

    def __iter__(self) -> Iterator[bytes]:
        raise SigningError(_LEFT)

    def __aiter__(self) -> AsyncIterator[bytes]:
        raise SigningError(_LEFT)


@cache
def _stream(kind: type, library: Any) -> Any:
    """Return a kind of stream as a class of a library."""
    return type(kind.__name__, (kind, library.SyncByteStream, library.AsyncByteStream), {})


class _Signing(Generic[TransportT]):
    """The part that sync and async transports share. Its coroutine waits only in an async transport."""

    _is_async: bool
    _library: Any
    """The module of the library: httpx, or httpx2."""

    def __init__(self, transport: TransportT, signer: SignerSource, **options: Unpack[SigningOptions]) -> None:
        self._transport: Any = transport
        self._signer = ClientSigner(signer, is_async=self._is_async, **options)
        self._has_looked = False

    async def _handle(self, request: Any) -> Any:
        """Sign a request, send it, and verify the response; a second time if a `DoubleKnock` asks for it."""
        self._look_past()
        content = self._read(request)
        if content is None:
            spool = Spool(self._signer.max_spooled)
            async for chunk in self._each(request.stream):
                spool.add(chunk)
            content = spool.content()
            request.stream = self._library.ByteStream(content)  # for redirects and further tries
        tries = self._signer.tries(request.method, str(request.url), _fields(request), content)
        unguarded = request.stream
        while True:
            signed = await tries.async_sign() if self._is_async else tries.sign()
            response = await self._send(self._outgoing(request, signed, content))
            response.extensions["signed_request"] = signed
            await self._verify(signed, response)
            if tries.is_last(response.status_code, response.headers.get("Accept-Signature", "")):
                break
            await self._close(response)
        request.stream = _stream(_GuardedStream, self._library)(unguarded) if content else unguarded
        return response

    async def _verify(self, signed: SignedRequest, response: Any) -> None:
        """Read and verify a response, if responses are verified. It then has its body in memory."""
        responses = self._signer.responses
        if responses is None:
            return
        try:
            verified = await responses.verify(
                signed, response.status_code, _fields(response), self._each(response.stream)
            )
        except BaseException:
            await self._close(response)
            raise
        await self._close(response.stream)
        response.stream = self._library.ByteStream(verified.content)
        response.extensions["signature"] = verified.signature
        response.headers = self._library.Headers(_octets(verified.headers))

    async def _send(self, request: object) -> Any:
        return (
            await self._transport.handle_async_request(request)
            if self._is_async
            else self._transport.handle_request(request)
        )

    async def _close(self, open_one: Any) -> None:
        await open_one.aclose() if self._is_async else open_one.close()

    async def _each(self, stream: Any) -> AsyncIterator[bytes]:
        if self._is_async:
            async for chunk in stream:
                yield chunk
        else:
            for chunk in stream:
                yield chunk

    def _rewind(self, request: Any) -> None:
        """Go to the place where the body of a file begins, if the request was read before."""
        file = _given_file(request.stream)
        if file is not None:
            file.seek(request.extensions.setdefault(_START, file.tell()))

    def _read(self, request: Any) -> bytes | FileDigest | None:
        """Return the body of a request, or the digest of a file or a form. None: it has to be read to its end."""
        if "target" in request.extensions:
            raise SigningError("extensions: target is sent instead of the URL's path and query; put it into the URL")
        if isinstance(request.stream, _GuardedStream):
            request.stream = request.stream.guarded
        stream = request.stream
        if isinstance(stream, self._library.ByteStream):
            return cast("bytes", request.read())
        self._rewind(request)
        file = _given_file(stream)
        if file is not None:
            return digest_file(file, self._signer.file_digest())
        if _is_form_of_files(stream):
            digest = self._signer.file_digest()
            for chunk in stream:
                digest.update(chunk)
            return digest
        return None

    def _outgoing(self, request: Any, signed: SignedRequest, content: bytes | FileDigest) -> Any:
        """Return the request to send. The caller's own request stays as it is, as redirects are made of it."""
        self._rewind(request)
        stream = request.stream
        if isinstance(content, FileDigest):
            stream = _stream(_CheckedStream, self._library)(stream, content)
        extensions = {name: value for name, value in request.extensions.items() if name != _START}
        return self._library.Request(
            request.method, signed.url, headers=_octets(signed.headers), stream=stream, extensions=extensions
        )

    def _look_past(self) -> None:
        """Warn once if the client of this transport sends requests for a listed origin past it.

        httpx tells a transport nothing of its client, so this looks at who calls.
        """
        frame, depth = inspect.currentframe(), 0
        while frame is not None and depth < _MOST_CALLERS and not self._has_looked:
            client = frame.f_locals.get("self")
            choose = getattr(client, "_transport_for_url", None)
            if choose is not None:
                self._has_looked = True
                patterns = cast("dict[Any, object]", vars(cast("Any", client))["_mounts"])
                for url in self._signer.origins or map(_url_of, patterns):
                    if self._signer.lists(url) and not _signs(choose(self._library.URL(url))):
                        logger.warning(_PAST, url)
            frame, depth = frame.f_back, depth + 1


class SigningTransport(_Signing[TransportT], Generic[TransportT, RequestT, ResponseT]):
    """The part of `SignatureTransport` that both libraries share."""

    _is_async = False

    def handle_request(self, request: RequestT) -> ResponseT:
        """Sign `request` and send it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, or the request lacks what the signature covers.
            SignatureError: the response is rejected.
        """
        return cast("ResponseT", finish(self._handle(request)))

    def __enter__(self) -> Self:
        """Open the inner transport."""
        self._look_past()
        self._transport.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        """Close the inner transport."""
        self._transport.__exit__(*details)

    def close(self) -> None:
        """Close the inner transport."""
        self._look_past()
        self._transport.close()


class AsyncSigningTransport(_Signing[TransportT], Generic[TransportT, RequestT, ResponseT]):
    """The part of `AsyncSignatureTransport` that both libraries share."""

    _is_async = True

    async def handle_async_request(self, request: RequestT) -> ResponseT:
        """Sign `request` and send it; raises the errors of `SigningTransport.handle_request`."""
        return cast("ResponseT", await self._handle(request))

    async def __aenter__(self) -> Self:
        """Open the inner transport."""
        self._look_past()
        await self._transport.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> None:
        """Close the inner transport."""
        await self._transport.__aexit__(*details)

    async def aclose(self) -> None:
        """Close the inner transport."""
        self._look_past()
        await self._transport.aclose()


def _fields(message: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.headers.raw]


def _octets(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _url_of(pattern: Any) -> str:
    """Return a URL that matches a pattern of `mounts=`."""
    return f"{pattern.scheme or 'https'}://{pattern.host.replace('*', 'any') or 'any.example'}"


def _signs(transport: object, depth: int = 0) -> bool:
    """Return whether a transport signs, or is around one that does, whatever it keeps that one in."""
    if isinstance(transport, _Signing):
        return True
    is_looked_into = isinstance(transport, (dict, list, tuple)) or any(
        hasattr(transport, method) for method in ("handle_request", "handle_async_request")
    )
    if isinstance(transport, type) or not is_looked_into or depth > _MOST_AROUND:
        return False
    return any(_signs(part, depth + 1) for part in gc.get_referents(transport))


def _given_file(stream: object) -> Any | None:
    """Return the seekable file that was given as `content=`, or None. Both libraries have no public name for it."""
    given = getattr(stream, "_stream", None)
    return given if hasattr(given, "read") and is_seekable(given) else None


def _is_form_of_files(stream: object) -> bool:
    """Return whether `stream` is a form whose files can all be read again. It has no public class."""
    fields: list[Any] | None = getattr(stream, "fields", None)
    return fields is not None and all(
        isinstance(field.file, str | bytes) or is_seekable(field.file) for field in fields if hasattr(field, "file")
    )

"""The transports that sign, for both libraries. Each library's module adds its own classes."""

from __future__ import annotations

import gc
import inspect
import logging
from functools import cache
from itertools import islice
from traceback import walk_stack
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from undersigned import SigningError
from undersigned.client import ClientSigner, Received, finish, is_seekable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from typing import Self, Unpack

    from undersigned.client import SentContent, SignedRequest, SignerSource, SigningOptions, VerifiedResponse

logger = logging.getLogger("undersigned")


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


class _Stream:
    """The body of a request that was signed, as a stream of either library.

    httpx makes a redirected request with the stream of the request before. Another transport of the client may send
    it, to an origin that nobody listed. The stream of the caller's request therefore refuses to be read, and a
    transport that signs takes `content` out of it. Only the stream of the request that is sent (`is_sent`) is read.
    """

    def __init__(self, content: SentContent, *, is_sent: bool) -> None:
        self.content = content
        self._is_sent = is_sent

    def __iter__(self) -> Iterator[bytes]:
        if self.content and not self._is_sent:
            raise SigningError(_LEFT)
        return iter((self.content,) if isinstance(self.content, bytes) else self.content)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


@cache
def _stream(library: Any) -> Any:
    """Return the kind of stream as a class of a library."""
    return type(_Stream.__name__, (_Stream, library.SyncByteStream, library.AsyncByteStream), {})


class _Signing(Generic[TransportT]):
    """The part that sync and async transports share. Its coroutines wait only in an async transport."""

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
        if "target" in request.extensions:
            raise SigningError("extensions: target is sent instead of the URL's path and query; put it into the URL")
        content = await self._read(request.stream)
        request.stream = _stream(self._library)(content, is_sent=False)
        stream = _stream(self._library)(content, is_sent=True)

        async def send(signed: SignedRequest) -> Received[Any]:
            # The caller's own request stays as it is, as redirects are made of it.
            parts = {"headers": _octets(signed.headers), "stream": stream, "extensions": request.extensions}
            outgoing = self._library.Request(request.method, signed.url, **parts)
            if self._is_async:
                response = await self._transport.handle_async_request(outgoing)
            else:
                response = self._transport.handle_request(outgoing)
            response.extensions["signed_request"] = signed
            close = response.aclose if self._is_async else response.close
            return Received(response, response.status_code, _fields(response), response.stream, self._replace, close)

        return await self._signer.exchange(request.method, str(request.url), _fields(request), content, send)

    async def _replace(self, response: Any, verified: VerifiedResponse) -> None:
        """Make a response the one that was verified, with its body in memory."""
        await response.stream.aclose() if self._is_async else response.stream.close()
        response.stream = self._library.ByteStream(verified.content)
        response.extensions["signature"] = verified.signature
        response.headers = self._library.Headers(_octets(verified.headers))

    async def _read(self, stream: Any) -> SentContent:
        """Return the body of a request, given its stream."""
        if isinstance(stream, self._library.ByteStream):
            return b"".join(stream)
        if _is_form_of_files(stream):
            return self._signer.unchanged(stream.__iter__)
        return await self._signer.read(stream.content if isinstance(stream, _Stream) else _given_file(stream) or stream)

    def _look_past(self) -> None:
        """Warn once if the client of this transport sends requests for a listed origin past it.

        httpx tells a transport nothing of its client, so this looks at who calls.
        """
        callers = () if self._has_looked else islice(walk_stack(inspect.currentframe()), _MOST_CALLERS)
        found: Iterator[Any] = (getattr(frame.f_locals.get("self"), "_transport_for_url", None) for frame, _ in callers)
        choose: Any = next(filter(None, found), None)
        if choose is not None:
            self._has_looked = True
            origins = self._signer.origins
            for url in origins.listed or map(_url_of, cast("dict[Any, object]", vars(choose.__self__)["_mounts"])):
                if origins.find(url) and not _signs(choose(self._library.URL(url))):
                    logger.warning(_PAST, url)


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

    async def aclose(self) -> None:
        """Close the inner transport."""
        self._look_past()
        await self._transport.aclose()


def _fields(message: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.headers.raw]


def _octets(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _url_of(pattern: Any) -> str:
    """Return a URL that matches a pattern of `mounts=`."""
    return f"{pattern.scheme or 'https'}://{pattern.host.replace('*', 'any') or 'any.example'}"


def _signs(transport: object, depth: int = 0) -> bool:
    """Return whether a transport signs, or is around one that does, whatever it keeps that one in."""
    sends = any(hasattr(type(transport), method) for method in ("handle_request", "handle_async_request"))
    is_looked_into = depth <= _MOST_AROUND and (sends or isinstance(transport, (dict, list, tuple)))
    parts = gc.get_referents(transport) if is_looked_into else ()
    return isinstance(transport, _Signing) or any(_signs(part, depth + 1) for part in parts)


def _given_file(stream: object) -> Any | None:
    """Return the seekable file that was given as `content=`, or None. Both libraries have no public name for it."""
    given = getattr(stream, "_stream", None)
    # A file of anyio is an asynchronous stream, and is kept like any other.
    return given if hasattr(stream, "__iter__") and hasattr(given, "read") and is_seekable(given) else None


def _is_form_of_files(stream: object) -> bool:
    """Return whether `stream` is a form whose files can all be read again. It has no public class."""
    fields: list[Any] | None = getattr(stream, "fields", None)
    return fields is not None and all(
        isinstance(field.file, str | bytes) or is_seekable(field.file) for field in fields if hasattr(field, "file")
    )

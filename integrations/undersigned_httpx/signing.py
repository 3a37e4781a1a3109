"""The transports that sign, for both libraries. Each library's module adds its own classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from undersigned import SigningError
from undersigned.client import DEFAULT_MAX_SPOOLED, ClientSigner, FileDigest, Spool, digest_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from undersigned.client import AnySigner, ConfiguredOrigins, ResponseVerification, SignedRequest, SignerSource

_START = "undersigned.start"
"""The request extension with the place in a file where the content begins. A redirect inherits it."""

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")
RequestT_contra = TypeVar("RequestT_contra", contravariant=True)
ResponseT_co = TypeVar("ResponseT_co", covariant=True)


class _Transport(Protocol[RequestT_contra, ResponseT_co]):
    def handle_request(self, request: RequestT_contra) -> ResponseT_co: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def close(self) -> None: ...


class _AsyncTransport(Protocol[RequestT_contra, ResponseT_co]):
    async def handle_async_request(self, request: RequestT_contra) -> ResponseT_co: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    async def aclose(self) -> None: ...


class _Signing(Generic[RequestT]):
    """The part that sync and async transports share."""

    _signer: ClientSigner
    _new_request: Callable[..., RequestT]
    _new_stream: Callable[[bytes], object]

    def _rewind(self, request: Any) -> None:
        """Go to the place where the content of a file begins, if the request was read before."""
        file = _given_file(request.stream)
        if file is not None:
            file.seek(request.extensions.setdefault(_START, file.tell()))

    def _read(self, request: Any) -> bytes | FileDigest | None:
        """Return the content of a request, or the digest of a file or a form. None: it has to be read to its end."""
        if "target" in request.extensions:
            raise SigningError("extensions: target is sent instead of the URL's path and query; put it into the URL")
        stream = request.stream
        if isinstance(stream, cast("type", self._new_stream)):
            return cast("bytes", request.read())
        self._rewind(request)
        file = _given_file(stream)
        if file is not None:
            return digest_file(file, self._signer.digest_builder())
        if _is_form_of_files(stream):
            builder, length = self._signer.digest_builder(), 0
            for chunk in stream:
                builder.update(chunk)
                length += len(chunk)
            return FileDigest(builder.value(), length)
        return None

    def _keep(self, request: Any, spool: Spool) -> bytes:
        """Give the request content that was read to its end, for redirects and further tries, and return it."""
        content = spool.content()
        request.stream = self._new_stream(content)
        return content

    def _outgoing(self, request: Any, signed: SignedRequest) -> RequestT:
        """Return the request to send. The caller's own request stays as it is, as redirects are made of it."""
        self._rewind(request)
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in signed.headers]
        extensions = {name: value for name, value in request.extensions.items() if name != _START}
        return self._new_request(
            request.method, signed.url, headers=headers, stream=request.stream, extensions=extensions
        )


class SigningTransport(_Signing[RequestT], Generic[RequestT, ResponseT]):
    """The part of `SignatureTransport` that both libraries share."""

    def __init__(
        self,
        transport: _Transport[RequestT, ResponseT],
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
    ) -> None:
        self._transport = transport
        self._signer = ClientSigner(signer, origins, max_spooled=max_spooled, responses=responses)
        if responses is not None:
            responses.check_sync()

    def handle_request(self, request: RequestT) -> ResponseT:
        """Sign `request` and send it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, or the request lacks what the signature covers.
            SignatureError: the response is rejected.
        """
        own, by = cast("Any", request), cast("AnySigner | None", None)
        content = self._read(own)
        if content is None:
            spool = Spool(self._signer.max_spooled)
            for chunk in own.stream:
                spool.add(chunk)
            content = self._keep(own, spool)
        while True:
            signed = self._signer.sign(own.method, str(own.url), _fields(own), content, by=by)
            response: Any = self._transport.handle_request(self._outgoing(own, signed))
            self._verify(signed, response)
            other = self._signer.note_answer(signed, response.status_code)
            if by is not None or other is None:
                return cast("ResponseT", response)
            response.close()
            by = other

    def _verify(self, signed: SignedRequest, response: Any) -> None:
        """Read and verify a response, if responses are verified. It then has its content in memory."""
        response.extensions["signed_request"] = signed
        responses = self._signer.responses
        if responses is None:
            return
        try:
            content = responses.read(response.stream)
            verified = responses.verify(signed, response.status_code, _fields(response), content)
        except BaseException:
            response.close()
            raise
        response.stream.close()
        response.stream = self._new_stream(content)
        response.extensions["signature"] = verified

    def __enter__(self) -> Self:
        """Open the inner transport."""
        self._transport.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Close the inner transport."""
        self._transport.__exit__(exc_type, exc_value, traceback)

    def close(self) -> None:
        """Close the inner transport."""
        self._transport.close()


class AsyncSigningTransport(_Signing[RequestT], Generic[RequestT, ResponseT]):
    """The part of `AsyncSignatureTransport` that both libraries share."""

    def __init__(
        self,
        transport: _AsyncTransport[RequestT, ResponseT],
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
    ) -> None:
        self._transport = transport
        self._signer = ClientSigner(signer, origins, max_spooled=max_spooled, responses=responses)

    async def handle_async_request(self, request: RequestT) -> ResponseT:
        """Sign `request` and send it; raises the errors of `SigningTransport.handle_request`."""
        own, by = cast("Any", request), cast("AnySigner | None", None)
        content = self._read(own)
        if content is None:
            spool = Spool(self._signer.max_spooled)
            async for chunk in own.stream:
                spool.add(chunk)
            content = self._keep(own, spool)
        while True:
            signed = await self._signer.async_sign(own.method, str(own.url), _fields(own), content, by=by)
            response: Any = await self._transport.handle_async_request(self._outgoing(own, signed))
            await self._verify(signed, response)
            other = self._signer.note_answer(signed, response.status_code)
            if by is not None or other is None:
                return cast("ResponseT", response)
            await response.aclose()
            by = other

    async def _verify(self, signed: SignedRequest, response: Any) -> None:
        response.extensions["signed_request"] = signed
        responses = self._signer.responses
        if responses is None:
            return
        try:
            content = await responses.async_read(response.stream)
            verified = await responses.async_verify(signed, response.status_code, _fields(response), content)
        except BaseException:
            await response.aclose()
            raise
        await response.stream.aclose()
        response.stream = self._new_stream(content)
        response.extensions["signature"] = verified

    async def __aenter__(self) -> Self:
        """Open the inner transport."""
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Close the inner transport."""
        await self._transport.__aexit__(exc_type, exc_value, traceback)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._transport.aclose()


def _fields(message: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.headers.raw]


def _given_file(stream: object) -> Any | None:
    """Return the seekable file that was given as `content=`, or None. Both libraries have no public name for it."""
    given = getattr(stream, "_stream", None)
    return given if hasattr(given, "read") and _is_seekable(given) else None


def _is_form_of_files(stream: object) -> bool:
    """Return whether `stream` is a form whose files can all be read again. It has no public class."""
    fields: list[Any] | None = getattr(stream, "fields", None)
    return fields is not None and all(
        isinstance(field.file, str | bytes) or _is_seekable(field.file) for field in fields if hasattr(field, "file")
    )


def _is_seekable(file: object) -> bool:
    seekable = getattr(file, "seekable", None)
    return hasattr(file, "seek") if seekable is None else bool(seekable())

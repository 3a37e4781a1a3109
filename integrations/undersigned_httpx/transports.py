"""The transports that sign, for both libraries. Each library's module adds its own types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from undersigned.client import DEFAULT_MAX_SPOOLED, ClientSigner

from .content import AsyncContent, async_read, read
from .messages import Parts, RequestT, Response
from .responses import async_verify, second_try, verify
from .wire import WireSigning, is_signature_field, own_extensions
from .written import encode_fields

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from undersigned.client import ConfiguredOrigins, FileContent, ResponseVerification, SignedRequest, SignerSource

    from .headers import Field

_ORIGIN = "undersigned.origin"
"""The request extension with the origin a request was signed for, or None. A redirected request inherits it."""

ResponseT_co = TypeVar("ResponseT_co", bound=Response, covariant=True)
RequestT_contra = TypeVar("RequestT_contra", contravariant=True)


class _Transport(Protocol[RequestT_contra, ResponseT_co]):
    """A transport of either library."""

    def handle_request(self, request: RequestT_contra) -> ResponseT_co: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def close(self) -> None: ...


class _AsyncTransport(Protocol[RequestT_contra, ResponseT_co]):
    """An async transport of either library."""

    async def handle_async_request(self, request: RequestT_contra) -> ResponseT_co: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    async def aclose(self) -> None: ...


class _SigningTransport(ABC, Generic[RequestT]):
    _signer: ClientSigner

    def _unsigned_redirect(self, request: RequestT, own: dict[str, object]) -> RequestT | None:
        """Return the request to send for a redirect that is followed without a signature, or None for any other."""
        before = cast("str | None", own.get(_ORIGIN))
        if _ORIGIN not in own or self._signer.signs_redirect(before, str(request.url)):
            return None
        request.extensions = {**own, _ORIGIN: None}
        kept = [(name, value) for name, value in request.headers.raw if not is_signature_field(name)]
        return self._copy(request, str(request.url), kept, own)

    def _signed_request(
        self,
        request: RequestT,
        own: dict[str, object],
        signer: ClientSigner,
        signed: SignedRequest,
        *,
        asynchronous: bool,
    ) -> tuple[WireSigning, RequestT]:
        """Return the request to send for `request`, which gets the signed origin into its extensions."""
        request.extensions = {**own, _ORIGIN: signed.origin}
        fields = encode_fields((*signed.fields, *signed.signature))
        wire = WireSigning(signer, signed, fields, request, own)
        extensions = {**own, "trace": wire.async_trace if asynchronous else wire.trace}
        return wire, self._copy(request, signed.url, fields, extensions)

    @abstractmethod
    def _copy(self, request: RequestT, url: str, fields: list[Field], extensions: dict[str, object]) -> RequestT:
        """Return a request with the method and content of `request`."""

    @abstractmethod
    def _stream(self, content: FileContent | AsyncContent) -> object:
        """Return the library's stream of content that was read."""

    @abstractmethod
    def _byte_stream(self, content: bytes) -> object:
        """Return the library's stream of bytes."""


class SigningTransport(_SigningTransport[RequestT], Generic[RequestT, ResponseT_co]):
    """The part of `SignatureTransport` that both libraries share."""

    def __init__(
        self,
        transport: _Transport[RequestT, ResponseT_co],
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        follow_unsigned: bool = False,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
    ) -> None:
        self._transport = transport
        self._signer = ClientSigner(
            signer,
            origins,
            follow_unsigned=follow_unsigned,
            max_spooled=max_spooled,
            tries_again=True,
            responses=responses,
        )
        if responses is not None:
            responses.check_sync()

    def handle_request(self, request: RequestT) -> ResponseT_co:
        """Sign `request` and send it; a second time if the answer asks for that, as for `SigningAuth.auth_flow`.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, or a redirect leaves the listed origins. Or the request lacks what
                the signature covers, or the inner transport does not send it as it was signed.
            SignatureError: the response is rejected.
        """
        read(request, self._signer, self._stream)
        own = own_extensions(request.extensions)
        unsigned = self._unsigned_redirect(request, own)
        if unsigned is not None:
            return self._transport.handle_request(unsigned)
        signed, response = self._send(request, own, self._signer)
        again = second_try(self._signer, signed, response)
        if again is not None:
            response.close()
            signed, response = self._send(request, own, again)
            second_try(self._signer, signed, response)
        return response

    def _send(
        self, request: RequestT, own: dict[str, object], signer: ClientSigner
    ) -> tuple[SignedRequest | None, ResponseT_co]:
        """Sign and send a request. Return it as it was signed last, and its response."""
        wire, outgoing = self._signed_request(request, own, signer, Parts.of(request).sign(signer), asynchronous=False)
        response = self._transport.handle_request(outgoing)
        if signer.responses is not None:
            verify(signer.responses, cast("SignedRequest", wire.signed), response, self._byte_stream)
        return wire.signed, response

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


class AsyncSigningTransport(_SigningTransport[RequestT], Generic[RequestT, ResponseT_co]):
    """The part of `AsyncSignatureTransport` that both libraries share."""

    def __init__(
        self,
        transport: _AsyncTransport[RequestT, ResponseT_co],
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        follow_unsigned: bool = False,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
    ) -> None:
        self._transport = transport
        self._signer = ClientSigner(
            signer,
            origins,
            follow_unsigned=follow_unsigned,
            max_spooled=max_spooled,
            tries_again=True,
            responses=responses,
        )

    async def handle_async_request(self, request: RequestT) -> ResponseT_co:
        """Sign `request` and send it; raises the errors of `SigningTransport.handle_request`."""
        await async_read(request, self._signer, self._stream)
        own = own_extensions(request.extensions)
        unsigned = self._unsigned_redirect(request, own)
        if unsigned is not None:
            return await self._transport.handle_async_request(unsigned)
        signed, response = await self._send(request, own, self._signer)
        again = second_try(self._signer, signed, response)
        if again is not None:
            await response.aclose()
            signed, response = await self._send(request, own, again)
            second_try(self._signer, signed, response)
        return response

    async def _send(
        self, request: RequestT, own: dict[str, object], signer: ClientSigner
    ) -> tuple[SignedRequest | None, ResponseT_co]:
        """Sign and send a request. Return it as it was signed last, and its response."""
        signed = await Parts.of(request).async_sign(signer)
        wire, outgoing = self._signed_request(request, own, signer, signed, asynchronous=True)
        response = await self._transport.handle_async_request(outgoing)
        if signer.responses is not None:
            await async_verify(signer.responses, cast("SignedRequest", wire.signed), response, self._byte_stream)
        return wire.signed, response

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

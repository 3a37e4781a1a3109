"""The auth and the transports that sign, for both libraries. Each library's module adds its own types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from undersigned import SigningError
from undersigned.client import ClientSigner

from .wire import WireCheck, encoded, is_signature_field, own_extensions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
    from types import TracebackType
    from typing import Self

    from undersigned import Signer
    from undersigned.client import SignedRequest

    from .headers import Field

_ORIGIN = "undersigned.origin"
"""The request extension with the origin a request was signed for, or None. A redirected request inherits it."""


class _Headers(Protocol):
    @property
    def raw(self) -> list[Field]: ...


class _Request(Protocol):
    """A request of either library."""

    extensions: dict[str, object]

    @property
    def method(self) -> str: ...
    @property
    def url(self) -> object: ...
    @property
    def headers(self) -> _Headers: ...
    @property
    def content(self) -> bytes: ...
    def read(self) -> bytes: ...
    async def aread(self) -> bytes: ...


class _Response(Protocol):
    """A response of either library."""

    @property
    def history(self) -> Sequence[object]: ...


RequestT = TypeVar("RequestT", bound=_Request)
ResponseT = TypeVar("ResponseT", bound=_Response)
ResponseT_co = TypeVar("ResponseT_co", covariant=True)
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


class SigningAuth(ABC, Generic[RequestT, ResponseT]):
    """The part of `SignatureAuth` that both libraries share."""

    requires_request_body = True

    def __init__(self, signer: Signer, *, origins: Iterable[str], follow_unsigned: bool = False) -> None:
        self._signer = ClientSigner(signer, origins, follow_unsigned=follow_unsigned)

    def auth_flow(self, request: RequestT) -> Generator[RequestT, ResponseT, None]:
        """Sign `request` in place and yield it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the request lacks what the signature covers, or it is not sent as
                it was signed.
        """
        check = self._sign(request, asynchronous=False)
        response = yield request
        check.finish(request.headers.raw, redirected=bool(response.history))

    async def async_auth_flow(self, request: RequestT) -> AsyncGenerator[RequestT, ResponseT]:
        """Read the content of `request`, then sign and yield it as `auth_flow` does."""
        await request.aread()
        check = self._sign(request, asynchronous=True)
        response = yield request
        check.finish(request.headers.raw, redirected=bool(response.history))

    def _sign(self, request: RequestT, *, asynchronous: bool) -> WireCheck:
        own = own_extensions(request.extensions)
        signed = _signed(self._signer, request)
        check = WireCheck(signed, own, follow_unsigned=self._signer.follow_unsigned)
        self._replace(request, signed.url, encoded(signed.fields), encoded(signed.signature))
        request.extensions = {**own, "trace": check.async_trace if asynchronous else check.trace}
        return check

    @abstractmethod
    def _replace(self, request: RequestT, url: str, fields: list[Field], signature: list[Field]) -> None:
        """Give `request` another URL and other header fields, including a signature."""


class _SigningTransport(ABC, Generic[RequestT]):
    _signer: ClientSigner

    def _outgoing(self, request: RequestT, *, asynchronous: bool) -> RequestT:
        """Return the request to send for `request`, with the signed origin in its extensions."""
        own = own_extensions(request.extensions)
        before = cast("str | None", own.get(_ORIGIN))
        if _ORIGIN in own and not self._signer.signs_redirect(before, str(request.url)):
            request.extensions = {**own, _ORIGIN: None}
            kept = [(name, value) for name, value in request.headers.raw if not is_signature_field(name)]
            return self._copy(request, str(request.url), kept, own)
        signed = _signed(self._signer, request)
        request.extensions = {**own, _ORIGIN: signed.origin}
        check = WireCheck(signed, own, follow_unsigned=False)
        extensions = {**own, "trace": check.async_trace if asynchronous else check.trace}
        return self._copy(request, signed.url, encoded((*signed.fields, *signed.signature)), extensions)

    @abstractmethod
    def _copy(self, request: RequestT, url: str, fields: list[Field], extensions: dict[str, object]) -> RequestT:
        """Return a request with the method and content of `request`."""


class SigningTransport(_SigningTransport[RequestT], Generic[RequestT, ResponseT_co]):
    """The part of `SignatureTransport` that both libraries share."""

    def __init__(
        self,
        transport: _Transport[RequestT, ResponseT_co],
        signer: Signer,
        *,
        origins: Iterable[str],
        follow_unsigned: bool = False,
    ) -> None:
        self._transport = transport
        self._signer = ClientSigner(signer, origins, follow_unsigned=follow_unsigned)

    def handle_request(self, request: RequestT) -> ResponseT_co:
        """Sign `request` and send it.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, a redirect leaves the origin, the request lacks what the signature
                covers, or the inner transport does not send it as it was signed.
        """
        request.read()
        return self._transport.handle_request(self._outgoing(request, asynchronous=False))

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
        signer: Signer,
        *,
        origins: Iterable[str],
        follow_unsigned: bool = False,
    ) -> None:
        self._transport = transport
        self._signer = ClientSigner(signer, origins, follow_unsigned=follow_unsigned)

    async def handle_async_request(self, request: RequestT) -> ResponseT_co:
        """Sign `request` and send it; raises the errors of `SigningTransport.handle_request`."""
        await request.aread()
        return await self._transport.handle_async_request(self._outgoing(request, asynchronous=True))

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


def _signed(signer: ClientSigner, request: _Request) -> SignedRequest:
    if "target" in request.extensions:
        raise SigningError("extensions: target is sent instead of the URL's path and query; put it into the URL")
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    chunked = any(name.lower() == "transfer-encoding" for name, _ in fields)
    content = request.content
    return signer.sign(request.method, str(request.url), fields, content, has_body=chunked or bool(content))

"""The auth and the transports that sign what httpx2 sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from .signing import BEFORE, OriginSigner

if TYPE_CHECKING:
    from collections.abc import Generator, ItemsView, Iterable, KeysView, Sequence, ValuesView
    from types import TracebackType
    from typing import Self

    from undersigned import Signer

    from .signing import Field


class SignatureAuth(httpx2.Auth):
    """Signs every request it is given to, of a sync or an async client. Safe to share between threads and clients.

    The request is sent to the canonical form of its URL. Its content is read before it is sent, and needs a
    Content-Type, which httpx2 sets for `json=`, `data=` and `files=` alone.

    httpx2 asks an auth before it follows redirects and not again: a redirected request carries no signature, wherever
    it goes. `SignatureTransport` signs those within the origin.

    Args:
        signer: makes the signatures.
        origins: what may be signed for, such as `https://seller.example.com`; with a path, such as
            `https://seller.example.com/api`, only what is below it.

    Raises:
        ConfigurationError: an argument is not what it must be.
    """

    requires_request_body = True

    def __init__(self, signer: Signer, *, origins: Iterable[str]) -> None:
        self._signer = OriginSigner(signer, origins)

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Sign `request` in place and yield it; a signature it has is replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, or the request lacks what is covered.
        """
        signed = self._signer.sign(request)
        request.url = httpx2.URL(signed.url)
        request.headers = SignedHeaders(signed.fields, signed.signature)
        yield request


class SignatureTransport(httpx2.BaseTransport):
    """Signs every request it sends, at the last moment: `Client(transport=SignatureTransport(HTTPTransport(), ...))`.

    A redirect within its origin is signed for its own URL, method and content; a redirect to another origin, listed
    or not, is sent without a signature. `response.request` is the request before it was signed. A client that has
    other origins to talk to mounts the transport: `mounts={"https://seller.example.com": transport}`.

    Args:
        transport: sends what is signed.
        signer: makes the signatures.
        origins: as for `SignatureAuth`.

    Raises:
        ConfigurationError: an argument is not what it must be.
    """

    def __init__(self, transport: httpx2.BaseTransport, signer: Signer, *, origins: Iterable[str]) -> None:
        self._transport = transport
        self._signer = OriginSigner(signer, origins)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sign `request` and send it.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, or the request lacks what is covered.
        """
        request.read()
        return self._transport.handle_request(_outgoing(self._signer, request))

    def __enter__(self) -> Self:
        """Open the transport that sends."""
        self._transport.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Close the transport that sends."""
        self._transport.__exit__(exc_type, exc_value, traceback)

    def close(self) -> None:
        """Close the transport that sends."""
        self._transport.close()


class AsyncSignatureTransport(httpx2.AsyncBaseTransport):
    """`SignatureTransport` for an `AsyncClient`."""

    def __init__(self, transport: httpx2.AsyncBaseTransport, signer: Signer, *, origins: Iterable[str]) -> None:
        self._transport = transport
        self._signer = OriginSigner(signer, origins)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sign `request` and send it; raises as `SignatureTransport.handle_request` does."""
        await request.aread()
        return await self._transport.handle_async_request(_outgoing(self._signer, request))

    async def __aenter__(self) -> Self:
        """Open the transport that sends."""
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Close the transport that sends."""
        await self._transport.__aexit__(exc_type, exc_value, traceback)

    async def aclose(self) -> None:
        """Close the transport that sends."""
        await self._transport.aclose()


class SignedHeaders(httpx2.Headers):
    """Header fields with a signature, which a copy of them leaves behind.

    To follow a redirect, httpx2 copies the fields of a request to the next one, whatever its origin. A signature that
    stood among them would go along; so it stands beside them, where sending and looking see it and copying does not.
    """

    def __init__(self, fields: Sequence[Field], signature: Sequence[Field]) -> None:
        super().__init__(fields)
        self._signature = list(signature)

    @property
    def raw(self) -> list[Field]:
        """The fields as they are sent, the signature among them."""
        return [*super().raw, *self._signature]

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._sent().keys()

    def values(self) -> ValuesView[str]:
        """The combined values."""
        return self._sent().values()

    def items(self) -> ItemsView[str, str]:
        """The names and combined values."""
        return self._sent().items()

    def multi_items(self) -> list[tuple[str, str]]:
        """The names and values, line by line."""
        return self._sent().multi_items()

    def get_list(self, key: str, split_commas: bool = False) -> list[str]:  # noqa: FBT001, FBT002 - as httpx2 has it
        """The values of one field, line by line."""
        return self._sent().get_list(key, split_commas)

    def __getitem__(self, key: str) -> str:
        return self._sent()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._sent()

    def __len__(self) -> int:
        return len(self._sent())

    def __setitem__(self, key: str, value: str) -> None:
        self._signature = [field for field in self._signature if field[0].lower() != key.lower().encode()]
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self[key] = ""
        super().__delitem__(key)

    def _sent(self) -> httpx2.Headers:
        return httpx2.Headers(self.raw)


def _outgoing(signer: OriginSigner, request: httpx2.Request) -> httpx2.Request:
    """Return what is sent for `request`. Its extensions tell its origin to the requests that redirects make of it."""
    if signer.leads_elsewhere(request):
        request.extensions = {**request.extensions, BEFORE: ""}
        return request
    signed = signer.sign(request)
    request.extensions = {**request.extensions, BEFORE: signed.origin}
    return httpx2.Request(
        request.method,
        signed.url,
        headers=[*signed.fields, *signed.signature],
        stream=request.stream,
        extensions=request.extensions,
    )

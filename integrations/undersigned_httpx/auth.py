"""The auth that signs, for both libraries. Each library's module adds its own types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic

from undersigned.client import DEFAULT_MAX_SPOOLED, ClientSigner

from .content import AsyncContent, async_read, read
from .messages import Parts, RequestT, ResponseT
from .responses import async_verify, second_try, verify
from .wire import WireSigning, own_extensions
from .written import encode_fields

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from undersigned.client import ConfiguredOrigins, FileContent, ResponseVerification, SignedRequest, SignerSource

    from .headers import Field


class SigningAuth(ABC, Generic[RequestT, ResponseT]):
    """The part of `SignatureAuth` that both libraries share."""

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

    def auth_flow(self, request: RequestT) -> Generator[RequestT, ResponseT, None]:
        """Read the content of `request`, then sign it in place and yield it.

        Signature fields that it has already are replaced. Redirects that the client follows are signed when they are
        written. The request that was answered is signed and yielded once more in two cases. If the signer is a
        `DoubleKnock` and the answer is 401, it is signed by the other scheme. With another signer, it is signed as the
        answer asks for (Accept-Signature), if the signer may do that.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the request lacks what the signature covers, or it is not sent as
                it was signed.
            SignatureError: the response is rejected.
        """
        signer: ClientSigner | None = self._signer
        while signer is not None:
            read(request, self._signer, self._stream)
            own, signed = own_extensions(request.extensions), Parts.of(request).sign(signer)
            wire = self._put(request, own, signed, signer)
            request.extensions = {**own, "trace": wire.trace}
            response = yield request
            if self._signer.responses is not None:
                verify(self._signer.responses, signed, response, self._byte_stream)
            signer = self._second_try(signer, wire, request, response)
            request = response.request

    async def async_auth_flow(self, request: RequestT) -> AsyncGenerator[RequestT, ResponseT]:
        """Read the content of `request`, then sign and yield it as `auth_flow` does."""
        signer: ClientSigner | None = self._signer
        while signer is not None:
            await async_read(request, self._signer, self._stream)
            own, signed = own_extensions(request.extensions), await Parts.of(request).async_sign(signer)
            wire = self._put(request, own, signed, signer)
            request.extensions = {**own, "trace": wire.async_trace}
            response = yield request
            if self._signer.responses is not None:
                await async_verify(self._signer.responses, signed, response, self._byte_stream)
            signer = self._second_try(signer, wire, request, response)
            request = response.request

    def _second_try(
        self, signer: ClientSigner, wire: WireSigning, request: RequestT, response: ResponseT
    ) -> ClientSigner | None:
        """Return the signer of a second try of the request of `response`, or None if it is not sent again."""
        is_first = signer is self._signer
        # The response to a first try is in the history of the second one.
        wire.finish(request.headers.raw, redirected=len(response.history) > (not is_first))
        again = second_try(self._signer, wire.signed, response)
        return again if is_first else None

    def _put(
        self, request: RequestT, own: dict[str, object], signed: SignedRequest, signer: ClientSigner
    ) -> WireSigning:
        """Give `request` its signature, and return the object that signs it when it is written again."""
        fields, signature = encode_fields(signed.fields), encode_fields(signed.signature)
        wire = WireSigning(
            signer, signed, [*fields, *signature], request, own, again=signer.responses is None, redirects=self._signer
        )
        self._replace(request, signed.url, fields, signature)
        return wire

    @abstractmethod
    def _replace(self, request: RequestT, url: str, fields: list[Field], signature: list[Field]) -> None:
        """Give `request` another URL and other header fields, including a signature."""

    @abstractmethod
    def _stream(self, content: FileContent | AsyncContent) -> object:
        """Return the library's stream of content that was read."""

    @abstractmethod
    def _byte_stream(self, content: bytes) -> object:
        """Return the library's stream of bytes."""

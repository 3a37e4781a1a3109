"""The auth that signs, for both libraries. Each library's module adds its own types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic

from undersigned.client import DEFAULT_MAX_SPOOLED, ClientSigner

from .content import AsyncContent, async_read, read
from .messages import RequestT, ResponseT, async_sign, sign
from .wire import WireCheck, encoded, own_extensions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from undersigned.client import ConfiguredOrigins, FileContent, SignedRequest, SignerSource

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
    ) -> None:
        self._signer = ClientSigner(
            signer, origins, follow_unsigned=follow_unsigned, max_spooled=max_spooled, tries_again=True
        )

    def auth_flow(self, request: RequestT) -> Generator[RequestT, ResponseT, None]:
        """Read the content of `request`, then sign it in place and yield it.

        Signature fields that it has already are replaced. If the signer is a `DoubleKnock` and the answer is 401, the
        request is signed and yielded once more by the other scheme.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the request lacks what the signature covers, or it is not sent as
                it was signed.
        """
        read(request, self._signer, self._stream)
        signer: ClientSigner | None = self._signer
        while signer is not None:
            own, signed = own_extensions(request.extensions), sign(signer, request)
            check = self._put(request, own, signed)
            request.extensions = {**own, "trace": check.trace}
            response = yield request
            redirected = self._is_redirected(signer, response)
            check.finish(request.headers.raw, redirected=redirected)
            signer = None if redirected else self._second_try(signer, signed, response)

    async def async_auth_flow(self, request: RequestT) -> AsyncGenerator[RequestT, ResponseT]:
        """Read the content of `request`, then sign and yield it as `auth_flow` does."""
        await async_read(request, self._signer, self._stream)
        signer: ClientSigner | None = self._signer
        while signer is not None:
            own, signed = own_extensions(request.extensions), await async_sign(signer, request)
            check = self._put(request, own, signed)
            request.extensions = {**own, "trace": check.async_trace}
            response = yield request
            redirected = self._is_redirected(signer, response)
            check.finish(request.headers.raw, redirected=redirected)
            signer = None if redirected else self._second_try(signer, signed, response)

    def _is_redirected(self, signer: ClientSigner, response: ResponseT) -> bool:
        """Return whether a redirect was followed. The response to a first try is in the history of the second one."""
        return len(response.history) > (signer is not self._signer)

    def _second_try(self, signer: ClientSigner, signed: SignedRequest, response: ResponseT) -> ClientSigner | None:
        """Return what signs the request once more, or None if it is not sent again."""
        again = self._signer.second_try(signed, response.status_code)
        return again if signer is self._signer else None

    def _put(self, request: RequestT, own: dict[str, object], signed: SignedRequest) -> WireCheck:
        """Give `request` its signature, and return the check that it is sent so."""
        check = WireCheck(signed, own, follow_unsigned=self._signer.follow_unsigned)
        self._replace(request, signed.url, encoded(signed.fields), encoded(signed.signature))
        return check

    @abstractmethod
    def _replace(self, request: RequestT, url: str, fields: list[Field], signature: list[Field]) -> None:
        """Give `request` another URL and other header fields, including a signature."""

    @abstractmethod
    def _stream(self, content: FileContent | AsyncContent) -> object:
        """Return the library's stream of content that was read."""

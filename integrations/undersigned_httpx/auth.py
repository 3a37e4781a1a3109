"""The auth that signs, for both libraries. Each library's module adds its own types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic

from undersigned.client import DEFAULT_MAX_SPOOLED, ClientSigner

from .messages import RequestT, ResponseT, async_read, async_sign, read, sign
from .wire import WireCheck, encoded, own_extensions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Iterable

    from undersigned.client import SignedRequest, SignerSource

    from .headers import Field


class SigningAuth(ABC, Generic[RequestT, ResponseT]):
    """The part of `SignatureAuth` that both libraries share."""

    def __init__(
        self,
        signer: SignerSource,
        *,
        origins: Iterable[str],
        follow_unsigned: bool = False,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
    ) -> None:
        self._signer = ClientSigner(signer, origins, follow_unsigned=follow_unsigned, max_spooled=max_spooled)

    def auth_flow(self, request: RequestT) -> Generator[RequestT, ResponseT, None]:
        """Read the content of `request`, then sign it in place and yield it.

        Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the request lacks what the signature covers, or it is not sent as
                it was signed.
        """
        read(request, self._signer.max_spooled)
        own = own_extensions(request.extensions)
        check = self._put(request, own, sign(self._signer, request))
        request.extensions = {**own, "trace": check.trace}
        response = yield request
        check.finish(request.headers.raw, redirected=bool(response.history))

    async def async_auth_flow(self, request: RequestT) -> AsyncGenerator[RequestT, ResponseT]:
        """Read the content of `request`, then sign and yield it as `auth_flow` does."""
        await async_read(request, self._signer.max_spooled)
        own = own_extensions(request.extensions)
        check = self._put(request, own, await async_sign(self._signer, request))
        request.extensions = {**own, "trace": check.async_trace}
        response = yield request
        check.finish(request.headers.raw, redirected=bool(response.history))

    def _put(self, request: RequestT, own: dict[str, object], signed: SignedRequest) -> WireCheck:
        """Give `request` its signature, and return the check that it is sent so."""
        check = WireCheck(signed, own, follow_unsigned=self._signer.follow_unsigned)
        self._replace(request, signed.url, encoded(signed.fields), encoded(signed.signature))
        return check

    @abstractmethod
    def _replace(self, request: RequestT, url: str, fields: list[Field], signature: list[Field]) -> None:
        """Give `request` another URL and other header fields, including a signature."""

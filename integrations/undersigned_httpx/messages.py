"""Messages: the requests and responses of both libraries, and how a request is signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from undersigned import SigningError

from .content import SignedStream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undersigned.client import ClientSigner, DigestedContent, SignedRequest

    from .headers import Field


class Headers(Protocol):
    """The header fields of either library."""

    @property
    def raw(self) -> list[Field]:
        """The names and values as bytes."""
        ...


class Request(Protocol):
    """A request of either library."""

    extensions: dict[str, object]
    stream: Any

    @property
    def method(self) -> str:
        """The method."""
        ...

    @property
    def url(self) -> object:
        """The URL, whose `str()` is the text."""
        ...

    @property
    def headers(self) -> Headers:
        """The header fields."""
        ...

    @property
    def content(self) -> bytes:
        """The content, which has been read."""
        ...

    def read(self) -> bytes:
        """Read the content."""
        ...


class Response(Protocol):
    """A response of either library."""

    stream: Any

    @property
    def headers(self) -> Any:
        """The header fields."""
        ...

    @property
    def is_stream_consumed(self) -> bool:
        """Whether the content has been read."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...

    async def aclose(self) -> None:
        """Close the connection."""
        ...

    @property
    def status_code(self) -> int:
        """The status."""
        ...

    @property
    def request(self) -> Any:
        """The request that was answered."""
        ...

    @property
    def history(self) -> Sequence[object]:
        """The responses that redirected to this one."""
        ...


RequestT = TypeVar("RequestT", bound=Request)
ResponseT = TypeVar("ResponseT", bound=Response)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a request that are signed.

    Attributes:
        method: the method.
        url: the absolute URL.
        headers: the header fields as they are sent.
        content: the content, or its digest.
    """

    method: str
    url: str
    headers: list[Field]
    content: bytes | DigestedContent

    @classmethod
    def of(cls, request: Request) -> Parts:
        """Return the parts of a request whose content was read.

        Raises:
            SigningError: the target that is sent is not the URL's.
        """
        if "target" in request.extensions:
            raise SigningError("extensions: target is sent instead of the URL's path and query; put it into the URL")
        content = request.stream.content if isinstance(request.stream, SignedStream) else request.content
        return cls(request.method, str(request.url), request.headers.raw, content)

    def sign(self, signer: ClientSigner) -> SignedRequest:
        """Return the request as it is to be sent, with its signature.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, or the request lacks what the signature covers.
            ConfigurationError: the key must be awaited.
        """
        return signer.sign(self.method, self.url, self._fields(), self.content, has_body=self._has_body())

    async def async_sign(self, signer: ClientSigner) -> SignedRequest:
        """Sign the request as `sign` does, and await the key if its `sign` is async."""
        return await signer.async_sign(self.method, self.url, self._fields(), self.content, has_body=self._has_body())

    def _fields(self) -> list[tuple[str, str]]:
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.headers]

    def _has_body(self) -> bool:
        return is_chunked(self.headers) or bool(self.content)


def is_chunked(headers: Iterable[Field]) -> bool:
    """Return whether a request has content whose length is not in its header fields."""
    return any(name.lower() == b"transfer-encoding" for name, _ in headers)

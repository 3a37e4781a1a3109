"""Messages: the requests and responses of both libraries, and how a request is signed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from undersigned import SigningError

from .content import SignedStream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.client import ClientSigner, DigestedContent, SignedRequest

    from .headers import Field


class Headers(Protocol):
    """The header fields of either library."""

    @property
    def raw(self) -> list[Field]:
        """Return the names and values as bytes."""
        ...


class Request(Protocol):
    """A request of either library."""

    extensions: dict[str, object]
    stream: Any

    @property
    def method(self) -> str:
        """Return the method."""
        ...

    @property
    def url(self) -> object:
        """Return the URL, whose `str()` is the text."""
        ...

    @property
    def headers(self) -> Headers:
        """Return the header fields."""
        ...

    @property
    def content(self) -> bytes:
        """Return the content, which has been read."""
        ...

    def read(self) -> bytes:
        """Read the content."""
        ...


class Response(Protocol):
    """A response of either library."""

    @property
    def status_code(self) -> int:
        """Return the status."""
        ...

    @property
    def history(self) -> Sequence[object]:
        """Return the responses that redirected to this one."""
        ...


RequestT = TypeVar("RequestT", bound=Request)
ResponseT = TypeVar("ResponseT", bound=Response)


class Parts(NamedTuple):
    """What `ClientSigner.sign` takes."""

    method: str
    url: str
    fields: list[tuple[str, str]]
    content: bytes | DigestedContent
    has_body: bool


def sign(signer: ClientSigner, request: Request) -> SignedRequest:
    """Return `request` as it is to be sent, with its signature.

    Raises:
        MalformedURL: the URL has no canonical form.
        SigningError: the origin is not listed, or the request lacks what the signature covers.
        ConfigurationError: the key must be awaited.
    """
    method, url, fields, content, has_body = _parts(request)
    return signer.sign(method, url, fields, content, has_body=has_body)


async def async_sign(signer: ClientSigner, request: Request) -> SignedRequest:
    """Return what `sign` does, and await the key if its `sign` is async."""
    method, url, fields, content, has_body = _parts(request)
    return await signer.async_sign(method, url, fields, content, has_body=has_body)


def _parts(request: Request) -> Parts:
    if "target" in request.extensions:
        raise SigningError("extensions: target is sent instead of the URL's path and query; put it into the URL")
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    chunked = any(name.lower() == "transfer-encoding" for name, _ in fields)
    content = request.stream.content if isinstance(request.stream, SignedStream) else request.content
    return Parts(request.method, str(request.url), fields, content, chunked or bool(content))

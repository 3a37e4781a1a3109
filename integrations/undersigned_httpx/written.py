"""Requests that httpcore is about to write to a connection: how they are read and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from undersigned import SigningError

from .content import SignedStream
from .messages import is_chunked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned.client import DigestedContent, SignedRequest

    from .headers import Field

_REPLACED = (
    "content: a transport sends the request again with content of its own, which cannot be signed; put "
    "SignatureTransport inside that transport, so that each attempt is signed"
)


class _URL(Protocol):
    scheme: bytes
    host: bytes
    port: int | None
    target: bytes
    """The request target: a path and query, or the whole URL for a proxy."""


class Written(Protocol):
    """A request of httpcore."""

    headers: list[Field]

    @property
    def method(self) -> bytes:
        """The method."""
        ...

    @property
    def url(self) -> _URL:
        """The URL, whose parts can be set."""
        ...

    @property
    def stream(self) -> object:
        """The content."""
        ...


def url_of(request: Written) -> str:
    """Return the URL that `request` is for, also if it is written to a proxy."""
    url = request.url
    target = url.target.decode("latin-1")
    if not target.startswith("/"):
        return target
    host = url.host.decode("latin-1")
    port = "" if url.port is None else f":{url.port}"
    return f"{url.scheme.decode('latin-1')}://{f'[{host}]' if ':' in host else host}{port}{target}"


def content_of(request: Written, stream: object, content: bytes) -> bytes | DigestedContent:
    """Return the content of `request`.

    Args:
        request: the request.
        stream: the content of an earlier request, as the library has it.
        content: the same content as bytes.

    Raises:
        SigningError: the request has content that was not read.
    """
    if isinstance(request.stream, SignedStream):
        return request.stream.content
    if request.stream is stream:
        return content
    # A redirect to a GET has neither field.
    lengths = [value for name, value in request.headers if name.lower() == b"content-length"]
    if is_chunked(request.headers) or any(length != b"0" for length in lengths):
        raise SigningError(_REPLACED)
    return b""


def put(request: Written, signed: SignedRequest) -> None:
    """Give `request` its canonical URL and the header fields that were signed."""
    is_whole = not request.url.target.startswith(b"/")
    request.url.target = encode(signed.url if is_whole else signed.url.removeprefix(signed.origin))
    request.headers = encode_fields((*signed.fields, *signed.signature))


def encode_fields(fields: Iterable[tuple[str, str]]) -> list[Field]:
    """Return text fields as the bytes that are sent."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]


def encode(text: str) -> bytes:
    """Return text as the bytes that are sent."""
    return text.encode("latin-1")

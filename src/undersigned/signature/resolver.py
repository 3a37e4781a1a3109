"""The resolver of http-message-signatures, over a request whose URL is the canonical one (RFC 9421 section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from http_message_signatures import HTTPSignatureComponentResolver

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned.message.request import Request
    from undersigned.url import CanonicalURL


class _URLParts(NamedTuple):
    """What the resolver asks of a URL, answered from the canonical form."""

    scheme: str
    host: str
    port: str | None
    path: str
    query: str | None
    authority: str

    @property
    def query_suffix(self) -> str:
        return "" if self.query is None else f"?{self.query}"


class _Lines(NamedTuple):
    lines: tuple[tuple[str, str], ...]

    def items(self) -> Iterable[tuple[str, str]]:
        return self.lines


class _Message(NamedTuple):
    method: str
    url: str
    headers: _Lines


class CanonicalResolver(HTTPSignatureComponentResolver):
    """http-message-signatures' resolver over one request, its URL being the canonical one."""

    def __init__(self, request: Request, target: CanonicalURL) -> None:
        origin = f"{target.scheme}://{target.authority}/"
        message = _Message(request.method, origin, _Lines(request.headers))
        super().__init__(message)  # type: ignore[no-untyped-call]
        self.target = target
        port = None if target.port is None else str(target.port)
        parts = _URLParts(target.scheme, target.host, port, target.path, target.query, target.authority)
        # The resolver asks these attributes of a URL and no others; its own class of them is private.
        self.url_parts = parts  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]

    def get_target_uri(self) -> str:
        """Return `@target-uri` (RFC 9421 section 2.2.2)."""
        return self.target.target_uri

    def get_authority(self) -> str:
        """Return `@authority` (RFC 9421 section 2.2.3)."""
        return self.target.authority

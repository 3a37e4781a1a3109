"""http-message-signatures' resolver of components, as a peer to compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from http_message_signatures import HTTPSignatureComponentResolver
from http_sf.compat import Item

if TYPE_CHECKING:
    from undersigned import CanonicalURL, Request
    from undersigned.message import Component


class Lines(NamedTuple):
    """The field lines of a message as the library takes them."""

    lines: tuple[tuple[str, str], ...]

    def items(self):
        return self.lines


class Sent(NamedTuple):
    """A request as the library takes it."""

    method: str
    url: str
    headers: Lines


class URLParts(NamedTuple):
    """The parts of a URL that the library asks for, taken from the canonical form."""

    scheme: str
    host: str
    port: str | None
    path: str
    query: str | None
    authority: str

    @property
    def query_suffix(self) -> str:
        return "" if self.query is None else f"?{self.query}"


class CanonicalResolver(HTTPSignatureComponentResolver):
    """The library's resolver of a request, its URL being the canonical one."""

    def __init__(self, request: Request, target: CanonicalURL) -> None:
        super().__init__(
            Sent(request.method.upper(), f"{target.scheme}://{target.authority}/", Lines(request.fields.lines))
        )
        port = None if target.port is None else str(target.port)
        self.url_parts = URLParts(target.scheme, target.host, port, target.path, target.query, target.authority)
        self.method = request.method

    def get_method(self) -> str:
        return self.method

    def get_target_uri(self) -> str:
        # The library leaves the empty path of OPTIONS as it is.
        return f"{self.url_parts.scheme}://{self.url_parts.authority}{self.url_parts.path}{self.url_parts.query_suffix}"

    def get_authority(self) -> str:
        return self.url_parts.authority


def item(component: Component) -> Item:
    """Return the identifier as the structured field item that the library resolves."""
    parsed = Item()
    parsed.parse(component.text.encode("ascii"))
    return parsed

"""A signed request, in the parts that a client sends."""

from __future__ import annotations

from dataclasses import dataclass, field

from undersigned.message.request import Request


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A signed request: send exactly these parts, and the bytes sent are the bytes signed.

    Attributes:
        method: the method.
        url: the canonical URL.
        origin: the scheme and authority of the URL.
        authority: the value of `Host` or `:authority`.
        fields: the given headers without signature fields; a `Host` among them is in canonical form.
        signature: the headers to add: Signature-Input, Signature and, for a body, Content-Digest.
    """

    method: str
    url: str = field(repr=False)
    origin: str
    authority: str
    fields: tuple[tuple[str, str], ...] = field(repr=False)
    signature: tuple[tuple[str, str], ...]

    @property
    def headers(self) -> list[tuple[str, str]]:
        """All headers to send. Text is bytes decoded as Latin-1."""
        return [*self.fields, *self.signature]

    @property
    def request(self) -> Request:
        """The request without its content: the parts that a signed response can cover (RFC 9421 section 2.4)."""
        host = [] if any(name.lower() == "host" for name, _ in self.fields) else [("Host", self.authority)]
        return Request(self.method, self.url, [*host, *self.headers])

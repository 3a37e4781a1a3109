"""Signed requests: the parts that a client must send exactly as they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from undersigned.client.over import together
from undersigned.message.request import Request

if TYPE_CHECKING:
    from undersigned.signature.signed_fields import SignedFields
    from undersigned.url import CanonicalURL


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A signed request: send exactly these parts, and the bytes sent are the bytes signed.

    Attributes:
        method: the method.
        url: the canonical URL.
        origin: the scheme and authority of the URL.
        authority: the value of `Host` or `:authority`.
        fields: the given header fields without signature fields; a `Host` among them is in canonical form.
        signature: the header fields to add: Signature-Input, Signature and, for content, Content-Digest.
        covered: the names of the covered header fields, in lower case.
        has_body: whether it is sent with content.
    """

    method: str
    url: str = field(repr=False)
    origin: str
    authority: str
    fields: tuple[tuple[str, str], ...] = field(repr=False)
    signature: tuple[tuple[str, str], ...]
    covered: frozenset[str]
    has_body: bool

    @property
    def request(self) -> Request:
        """The request without its content: the parts that a signed response can cover (RFC 9421 section 2.4)."""
        host = [] if any(name.lower() == "host" for name, _ in self.fields) else [("Host", self.authority)]
        return Request(self.method, self.url, [*host, *self.fields, *self.signature])

    @classmethod
    def of(
        cls, request: Request, target: CanonicalURL, fields: tuple[tuple[str, str], ...], signed: SignedFields
    ) -> SignedRequest:
        """Return the parts of a request to send.

        Args:
            request: the request, as it was signed.
            target: its canonical URL.
            fields: its header fields without signature fields.
            signed: its signature.
        """
        before = request.fields.combined
        return cls(
            request.method,
            target.target_uri,
            origin_of(target),
            target.authority,
            fields,
            together(before, signed.fields) if "signature" in before else signed.fields,
            frozenset([name for name in signed.components if name[0] not in "@("]),
            request.has_body,
        )


def origin_of(target: CanonicalURL) -> str:
    """Return the scheme and authority of a URL (RFC 6454 section 6.2)."""
    return f"{target.scheme}://{target.authority}"

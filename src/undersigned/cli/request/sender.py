"""Senders: sign a request and send exactly what was signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from undersigned import __version__
from undersigned.cli.connection import connect
from undersigned.cli.request.reply import Reply
from undersigned.client import ClientSigner
from undersigned.message.request import Request
from undersigned.url import canonicalize

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator, Sequence

    from undersigned.client import AnySigner, SignedRequest

_OWN: Final = (("User-Agent", f"undersigned/{__version__}"), ("Accept", "*/*"), ("Connection", "close"))
_WITH_CONTENT: Final = frozenset({"POST", "PUT", "PATCH"})
"""The methods whose requests have a Content-Length even without content (RFC 9110 section 8.6)."""


@dataclass(frozen=True, slots=True)
class Sender:
    """A sender of signed requests. It follows neither redirects nor proxy settings.

    Attributes:
        signer: makes the signatures.
        timeout: the seconds of silence after which a connection fails.
        tls: the certificates to trust if the scheme is https.
    """

    signer: AnySigner
    timeout: float
    tls: ssl.SSLContext

    def sign(self, method: str, url: str, fields: Sequence[tuple[str, str]], content: bytes) -> Request:
        """Return the request as it is to be sent, with its signature, to the canonical form of `url`.

        Raises:
            MalformedURL: the URL or `Host` has no canonical form.
            SigningError: the request lacks what the signature covers.
        """
        target = canonicalize(url)
        client = ClientSigner(self.signer, [f"{target.scheme}://{target.authority}"])
        signed = client.sign(method, url, list(_with_own(fields)), content)
        return Request(method, signed.url, list(_fields_to_send(signed, content)), content)

    def send(self, request: Request) -> Reply:
        """Send a signed request and read the answer.

        Raises:
            NoAnswer: there is none.
        """
        target = canonicalize(request.url)
        path = request.url.removeprefix(f"{target.scheme}://{target.authority}")
        with connect(target, timeout=self.timeout, tls=self.tls) as connection:
            connection.putrequest(request.method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in request.fields:
                connection.putheader(name, value.encode("latin-1"))
            connection.endheaders(request.body or None)
            with connection.getresponse() as response:
                return Reply.read(response, timeout=self.timeout)


def _with_own(fields: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    given = {name.lower() for name, _ in fields}
    yield from fields
    yield from (field for field in _OWN if field[0].lower() not in given)


def _fields_to_send(signed: SignedRequest, content: bytes) -> Iterator[tuple[str, str]]:
    if not any(name.lower() == "host" for name, _ in signed.fields):
        yield "Host", signed.authority
    yield from signed.fields
    yield from signed.signature
    if content or signed.method in _WITH_CONTENT:
        yield "Content-Length", str(len(content))

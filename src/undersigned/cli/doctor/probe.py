"""Probes: requests that are sent byte for byte to one server, signed for the URL that may arrive, or unsigned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from undersigned.cli.http import connect, read_verdict
from undersigned.message.request import Request

if TYPE_CHECKING:
    import http.client
    import ssl

    from undersigned.cli.doctor.site import Site
    from undersigned.cli.doctor.spellings import Content
    from undersigned.cli.http import Verdict
    from undersigned.signature.signer import Signer
    from undersigned.url import CanonicalURL

MOST_CONTENT = 64 * 1024
"""Upper bound on the content of an answer that is read, in bytes."""

CONTENT_METHODS = frozenset({"POST", "PUT", "PATCH"})
"""The methods that are used to test content."""

_JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Probe:
    """A request.

    Attributes:
        method: the method.
        target: the request target as sent.
        host: the value of Host as sent.
        fields: the other header fields.
        content: the content. It is sent if it is not empty or if it is chunked.
        chunked: whether it is sent in chunks, without Content-Length.
    """

    method: str
    target: str
    host: str
    fields: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    chunked: bool = False


@dataclass(frozen=True, slots=True)
class ProbeClient:
    """A client that sends probes to one server only. It follows neither redirects nor proxy settings.

    Attributes:
        site: a URL of the server, with the host and port to connect to.
        timeout: the seconds of silence after which a connection fails.
        tls: the certificates to trust if the scheme is https.
    """

    site: CanonicalURL
    timeout: float
    tls: ssl.SSLContext

    def ask(self, probe: Probe) -> Verdict:
        """Send `probe` over its own connection and read the answer.

        Raises:
            NoAnswer: the server cannot be reached, is not trusted, is silent, or does not answer with HTTP/1.1.
        """
        with connect(self.site, timeout=self.timeout, tls=self.tls) as connection:
            _send(connection, probe)
            with connection.getresponse() as response:
                challenges = response.headers.get_all("www-authenticate") or []
                return read_verdict(response.status, challenges, response.read(MOST_CONTENT))


def _send(connection: http.client.HTTPConnection, probe: Probe) -> None:
    connection.putrequest(probe.method, probe.target, skip_host=True, skip_accept_encoding=True)
    own = (("Host", probe.host), ("User-Agent", "undersigned-doctor"), ("Connection", "close"))
    for name, value in (*own, *probe.fields):
        connection.putheader(name, value)
    if probe.chunked:
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders([probe.content], encode_chunked=True)
    elif probe.content:
        connection.putheader("Content-Length", str(len(probe.content)))
        connection.endheaders(probe.content)
    else:
        connection.endheaders()


@dataclass(frozen=True, slots=True)
class SignedProbes:
    """A maker of the probes for one site.

    Attributes:
        site: the site to send all probes to.
        signer: the signer of the probes.
        method: the method. If it takes content, it is used for probes with content only, and GET for the others.
        fields: further header fields of every signed probe, such as Signature-Agent.
    """

    site: Site
    signer: Signer
    method: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def take_content(self) -> bool:
        """Whether the method takes content."""
        return self.method in CONTENT_METHODS

    def unsigned_probe(self, end: str) -> Probe:
        """Return an unsigned probe for the target that ends with `end`."""
        return Probe(self._bare_method, self.site.target(end), self.site.authority)

    def signed_probe(self, end: str, url: str) -> Probe:
        """Return a probe for the target that ends with `end`, signed for `url`.

        Raises:
            SigningError: the profile asks for a header field that is not given.
        """
        always = self.signer.profile.coverage.always
        own = (*(_JSON if "content-type" in always else ()), *self.fields)
        signature = self.signer.sign(Request(self._bare_method, url, own))
        return replace(self.unsigned_probe(end), fields=(*own, *signature))

    def with_content(self, end: str, url: str, content: Content, *, signed: bytes) -> Probe:
        """Return a probe with `content`, signed for `url` and for the content `signed`."""
        own = (*_JSON, *self.fields)
        signature = self.signer.sign(Request(self.method, url, own, signed, has_body=True))
        return Probe(
            self.method,
            self.site.target(end),
            self.site.authority,
            (*own, *signature),
            content=content.sent,
            chunked=content.chunked,
        )

    def damage(self, probe: Probe, url: str) -> Probe:
        """Return `probe` with a signature over something else, which every verifier rejects."""
        other = dict(self.signed_probe("", f"{url}-control").fields)["Signature"]
        return replace(
            probe,
            fields=tuple((name, other if name == "Signature" else value) for name, value in probe.fields),
        )

    @property
    def _bare_method(self) -> str:
        return "GET" if self.take_content else self.method

"""Probes: signed requests to a site, and the URLs for which a middleware may take them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from undersigned.cli.doctor.checks import HOST, Finding
from undersigned.cli.http import read_verdict, send
from undersigned.message.request import Request

if TYPE_CHECKING:
    import ssl

    from undersigned.cli.doctor.checks import Content
    from undersigned.cli.http import Verdict
    from undersigned.signature.signer import Signer
    from undersigned.url import CanonicalURL

MARK = "/undersigned-doctor"
"""Part of every path that is sent or signed, after the path of the URL, so that no signature fits another resource."""

MOST_CONTENT = 64 * 1024
"""Upper bound on the content of an answer that is read, in bytes."""

CONTENT_METHODS = frozenset({"POST", "PUT", "PATCH"})
"""The methods that are used to test content."""

_JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Site:
    """A service as clients or as a middleware see it.

    Attributes:
        scheme: `http` or `https`.
        host: the host without the port.
        port: a colon and the port, or an empty text.
        prefix: the path of the service, without a trailing slash.
    """

    scheme: str
    host: str
    port: str
    prefix: str

    @classmethod
    def of(cls, url: CanonicalURL) -> Site:
        """Return the site whose paths begin with the path of `url`."""
        return cls(url.scheme, url.host, url.authority[len(url.host) :], url.path.rstrip("/"))

    def __str__(self) -> str:
        """Return the site in the form of an origin."""
        return f"{self.scheme}://{self.authority}{self.prefix}"

    @property
    def authority(self) -> str:
        """The host and the port."""
        return self.host + self.port

    def target(self, end: str) -> str:
        """Return the request target of a probe that ends with `end`."""
        return f"{self.prefix}{MARK}{end}"

    def url(self, end: str) -> str:
        """Return the absolute URL of a probe that ends with `end`."""
        return f"{self.scheme}://{self.authority}{self.target(end)}"

    def mistaken(self) -> list[Site]:
        """Return the sites that a middleware may see instead of this one, in order of the number of mistakes.

        A mistake is another scheme, a lost port, a stripped prefix that is not configured, or a configured prefix that
        is not stripped. The host is always the same.
        """
        segments = self.prefix.split("/")
        starts = ["/".join(segments[:end]) for end in range(2, len(segments) + 1)]
        prefixes = (self.prefix, *(self.prefix[len(start) :] for start in starts), *(s + self.prefix for s in starts))
        others = {
            Site(scheme, self.host, port, prefix)
            for scheme, port, prefix in product(("http", "https"), {self.port, ""}, prefixes)
        }
        return sorted(others - {self}, key=lambda other: (len(self.mistakes(other)), str(other)))

    def mistakes(self, seen: Site) -> list[Finding]:
        """Return the findings if a middleware sees this site as `seen`."""
        found: list[Finding] = []
        if self.scheme != seen.scheme:
            problem = f"the middleware sees requests to {self.scheme} as requests to {seen.scheme}"
            found.append(Finding("scheme", problem, f"write {self.scheme}:// in origins=, the scheme that clients use"))
        if self.port != seen.port:
            problem = f"Host is rewritten: it arrives without the port {self.port[1:]}"
            found.append(Finding("Host", problem, HOST, self.authority, seen.authority))
        if self.prefix.endswith(seen.prefix) and self.prefix != seen.prefix:
            start = self.prefix.removesuffix(seen.prefix)
            problem = f"the prefix {start} is stripped on the way, but origins= does not contain it"
            found.append(Finding("prefix", problem, f'add the prefix: origins=["{replace(self, prefix=start)}"]'))
        elif self.prefix != seen.prefix:
            start = seen.prefix.removesuffix(self.prefix)
            problem = f"the middleware adds {start} to a path that already has it"
            remedy = (
                f"no proxy strips {start}: remove it from origins=. If the server adds it (uvicorn --root-path), set "
                "server_adds_root_path=True"
            )
            found.append(Finding("prefix", problem, remedy))
        return found


@dataclass(frozen=True, slots=True)
class Probe:
    """A request.

    Attributes:
        method: the method.
        target: the request target as sent.
        host: the value of Host as sent.
        fields: the other header fields.
        content: the content. It is sent if it is not empty.
        chunked: whether it is sent in chunks, without Content-Length.
    """

    method: str
    target: str
    host: str
    fields: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    chunked: bool = False


def ask(site: CanonicalURL, probe: Probe, *, timeout: float, tls: ssl.SSLContext) -> Verdict:
    """Send `probe` to the host of `site`, over its own connection, and read the answer.

    Raises:
        NoAnswer: the server cannot be reached, is not trusted, is silent, or does not answer with HTTP/1.1.
    """
    fields = [("Host", probe.host), ("User-Agent", "undersigned-doctor"), ("Connection", "close"), *probe.fields]
    if probe.chunked:
        fields.append(("Transfer-Encoding", "chunked"))
    elif probe.content:
        fields.append(("Content-Length", str(len(probe.content))))
    content = [probe.content] if probe.chunked else probe.content
    with send(site, probe.method, probe.target, fields, content, timeout=timeout, tls=tls) as response:
        challenges = response.headers.get_all("www-authenticate") or []
        return read_verdict(response.status, challenges, response.read(MOST_CONTENT))


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
        return Probe("GET" if self.take_content else self.method, self.site.target(end), self.site.authority)

    def signed_probe(self, end: str, url: str) -> Probe:
        """Return a probe for the target that ends with `end`, signed for `url`.

        Raises:
            SigningError: the profile asks for a header field that is not given.
        """
        bare = self.unsigned_probe(end)
        own = (*(_JSON if "content-type" in self.signer.profile.coverage.always else ()), *self.fields)
        return replace(bare, fields=(*own, *self.signer.sign(Request(bare.method, url, own))))

    def with_content(self, end: str, url: str, content: Content, *, signed: bytes) -> Probe:
        """Return a probe with `content`, signed for `url` and for the content `signed`."""
        own = (*_JSON, *self.fields)
        fields = (*own, *self.signer.sign(Request(self.method, url, own, signed, has_body=True)))
        target = self.site.target(end)
        return Probe(self.method, target, self.site.authority, fields, content.sent, content.chunked)

    def damage(self, probe: Probe, url: str) -> Probe:
        """Return `probe` with a signature over something else, which every verifier rejects."""
        other = dict(self.signed_probe("", f"{url}-control").fields)["Signature"]
        fields = tuple((name, other if name == "Signature" else value) for name, value in probe.fields)
        return replace(probe, fields=fields)

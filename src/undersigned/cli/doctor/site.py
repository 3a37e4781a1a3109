"""Sites: the public URL that clients use, and the URLs that a middleware may see instead."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from undersigned.cli.doctor import advice
from undersigned.cli.doctor.finding import Finding

if TYPE_CHECKING:
    from undersigned.url import CanonicalURL

MARK = "/undersigned-doctor"
"""Part of every path that is sent or signed, after the path of the URL, so that no signature fits another resource."""


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
        starts = self._starts()
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
            found.append(Finding("Host", problem, advice.HOST, self.authority, seen.authority))
        if self.prefix.endswith(seen.prefix) and self.prefix != seen.prefix:
            start = self.prefix.removesuffix(seen.prefix)
            known = replace(self, prefix=start)
            problem = f"the prefix {start} is stripped on the way, but origins= does not contain it"
            found.append(Finding("prefix", problem, f'add the prefix: origins=["{known}"]'))
        elif self.prefix != seen.prefix:
            start = seen.prefix.removesuffix(self.prefix)
            problem = f"the middleware adds {start} to a path that already has it"
            remedy = (
                f"no proxy strips {start}: remove it from origins=. If the server adds it (uvicorn --root-path), set "
                "server_adds_root_path=True"
            )
            found.append(Finding("prefix", problem, remedy))
        return found

    def _starts(self) -> list[str]:
        """Return the beginnings of the prefix, each up to the end of a segment."""
        segments = self.prefix.split("/")
        return ["/".join(segments[:end]) for end in range(2, len(segments) + 1)]

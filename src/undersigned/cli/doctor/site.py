"""Sites: the public URL that clients use, and what a middleware may take it for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from undersigned.cli.doctor import advice
from undersigned.cli.doctor.finding import Finding

if TYPE_CHECKING:
    from undersigned.url import CanonicalURL

MARK = "/undersigned-doctor"
"""Stands in every path that is sent or signed, behind the URL's own path: no signature is good for another resource."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where requests to one service go, or are taken to go.

    Attributes:
        scheme: `http` or `https`.
        host: the host alone.
        port: what stands behind the host: a colon and the port, or nothing.
        prefix: the path of the service, without a slash at its end.
    """

    scheme: str
    host: str
    port: str
    prefix: str

    @classmethod
    def of(cls, url: CanonicalURL) -> Site:
        """Return the site whose paths begin with that of `url`."""
        return cls(url.scheme, url.host, url.authority[len(url.host) :], url.path.rstrip("/"))

    def __str__(self) -> str:
        """Return the site as an origin is written."""
        return f"{self.scheme}://{self.authority}{self.prefix}"

    @property
    def authority(self) -> str:
        """Host and port."""
        return self.host + self.port

    def target(self, end: str) -> str:
        """Return the request target of the probe whose own end is `end`."""
        return f"{self.prefix}{MARK}{end}"

    def url(self, end: str) -> str:
        """Return the absolute URL of the same."""
        return f"{self.scheme}://{self.authority}{self.target(end)}"

    def mistaken(self) -> list[Site]:
        """Return what a middleware may take this site for, the fewest mistakes first.

        That is another scheme, a lost port, and a prefix that is stripped and not known of, or known of and not
        stripped. The host is always this one.
        """
        starts = self._starts()
        prefixes = (self.prefix, *(self.prefix[len(start) :] for start in starts), *(s + self.prefix for s in starts))
        others = {
            Site(scheme, self.host, port, prefix)
            for scheme, port, prefix in product(("http", "https"), {self.port, ""}, prefixes)
        }
        return sorted(others - {self}, key=lambda other: (len(self.mistakes(other)), str(other)))

    def mistakes(self, taken: Site) -> list[Finding]:
        """Return what is wrong where this site is taken for `taken`."""
        found: list[Finding] = []
        if self.scheme != taken.scheme:
            problem = f"the middleware takes requests to {self.scheme} for requests to {taken.scheme}"
            found.append(Finding("scheme", problem, f"write {self.scheme}:// in origins=: the scheme that clients use"))
        if self.port != taken.port:
            problem = f"Host is rewritten: it arrives without the port {self.port[1:]}"
            found.append(Finding("Host", problem, advice.HOST, self.authority, taken.authority))
        if self.prefix.endswith(taken.prefix) and self.prefix != taken.prefix:
            start = self.prefix.removesuffix(taken.prefix)
            known = replace(self, prefix=start)
            problem = f"the prefix {start} is stripped on the way, and the middleware does not know of it"
            found.append(Finding("prefix", problem, f'name it in the origin: origins=["{known}"]'))
        elif self.prefix != taken.prefix:
            start = taken.prefix.removesuffix(self.prefix)
            problem = f"the middleware puts {start} before a path that has it already"
            remedy = (
                f"nothing strips {start}: leave it out of origins=. Where the server adds it (uvicorn --root-path): "
                "server_adds_root_path=True"
            )
            found.append(Finding("prefix", problem, remedy))
        return found

    def _starts(self) -> list[str]:
        """Return the prefix cut off behind each of its segments."""
        segments = self.prefix.split("/")
        return ["/".join(segments[:end]) for end in range(2, len(segments) + 1)]

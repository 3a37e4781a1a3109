"""The service that the doctor examines, and the mistakes by which a middleware sees another one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final

from undersigned.explanation.advice import HOST

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK: Final = "/undersigned-doctor"
"""Part of every path that is sent or signed, after the path of the URL, so that no signature fits another resource."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A change in transit, or another reason why signatures are not accepted.

    Attributes:
        check: the name of the check.
        problem: a description of the problem.
        advice: the setting that fixes it.
        sent: the request target that was sent, or an empty text.
        arrives: the request target that arrives, or an empty text if it is not known.
    """

    check: str
    problem: str
    advice: str
    sent: str = ""
    arrives: str = ""


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

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.prefix}"

    @property
    def authority(self) -> str:
        """The host with its port, as Host has it."""
        return self.host + self.port

    def target(self, end: str) -> str:
        """Return the request target of a probe that ends with `end`."""
        return f"{self.prefix}{MARK}{end}"

    def url(self, end: str) -> str:
        """Return the absolute URL of a probe that ends with `end`."""
        return f"{self}{MARK}{end}"

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
        return sorted(others - {self}, key=lambda other: (len(list(self.mistakes(other))), str(other)))

    def mistakes(self, seen: Site) -> Iterator[Finding]:
        """Yield the findings if a middleware sees this site as `seen`."""
        if self.scheme != seen.scheme:
            problem = f"the middleware sees requests to {self.scheme} as requests to {seen.scheme}"
            yield Finding("scheme", problem, f"write {self.scheme}:// in origins=, the scheme that clients use")
        if self.port != seen.port:
            problem = f"Host is rewritten: it arrives without the port {self.port[1:]}"
            yield Finding("Host", problem, HOST, self.authority, seen.authority)
        if self.prefix.endswith(seen.prefix) and self.prefix != seen.prefix:
            start = self.prefix.removesuffix(seen.prefix)
            problem = f"the prefix {start} is stripped in transit, but origins= does not contain it"
            yield Finding("prefix", problem, f'add the prefix: origins=["{replace(self, prefix=start)}"]')
        elif self.prefix != seen.prefix:
            start = seen.prefix.removesuffix(self.prefix)
            problem = f"the middleware adds {start} to a path that already has it"
            remedy = (
                f"no proxy strips {start}: remove it from origins=. If the server adds it (uvicorn --root-path), set "
                "server_adds_root_path=True"
            )
            yield Finding("prefix", problem, remedy)

"""A URL as a frozen value: its parts, exactly as written."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# RFC 3986 appendix B, with the authority split as in section 3.2. It matches every string. Each repeated class excludes
# the delimiter that ends it, so time is linear. The third alternative of the host takes stray brackets and colons as
# part of the host.
_PARTS: Final = re.compile(
    r"(?>(?:([^:/?#]++):)?)"  # scheme
    r"(?>(?://(?>(?:([^/?#]*)@)?)(\[[^\]/?#@]*+\]|[^/?#@:\[\]]*|[^/?#@]*?)(?::([^/?#@:\]]*))?(?![^/?#]))?)"  # authority
    r"([^?#]*+)(?>(?:\?([^#]*+))?)(?>(?:#(.*+))?)",  # path, query, fragment
    re.DOTALL,
)


class URL(NamedTuple):
    """The parts of a URL as written, without their delimiters. `None` means absent, `""` means empty.

    `str(url)` returns the parsed text unchanged. A URL is a named tuple because rules make one value per change, and
    making a frozen dataclass takes three times as long.

    Attributes:
        scheme: the text before the first `:` (RFC 3986 section 3.1).
        userinfo: the text before the last `@` of the authority (section 3.2.1).
        host: a name or an address, an IPv6 address with its brackets; `None` without an authority (section 3.2.2).
        port: the text after the `:` that ends the host (section 3.2.3).
        path: the path, which is never absent (section 3.3).
        query: the text after the first `?` (section 3.4).
        fragment: the text after the first `#` (section 3.5).
    """

    scheme: str | None
    userinfo: str | None
    host: str | None
    port: str | None
    path: str
    query: str | None
    fragment: str | None

    @classmethod
    def parse(cls, text: str) -> URL:
        """Split any text into parts without checking or changing it (RFC 3986 appendix B).

        Raises:
            TypeError: `text` is not a `str`.
        """
        match = _PARTS.fullmatch(text)
        assert match is not None  # noqa: S101 - every part of the pattern may be empty or take any character
        return cls(*match.groups())

    @property
    def authority(self) -> str | None:
        """User info, host and port with their delimiters; `None` without an authority (RFC 3986 section 3.2)."""
        if self.host is None:
            return None
        before = "" if self.userinfo is None else f"{self.userinfo}@"
        after = "" if self.port is None else f":{self.port}"
        return f"{before}{self.host}{after}"

    def __str__(self) -> str:
        """Return the text of the URL (RFC 3986 section 5.3)."""
        authority = self.authority
        before = "" if self.scheme is None else f"{self.scheme}:"
        middle = "" if authority is None else f"//{authority}"
        query = "" if self.query is None else f"?{self.query}"
        after = "" if self.fragment is None else f"#{self.fragment}"
        return f"{before}{middle}{self.path}{query}{after}"

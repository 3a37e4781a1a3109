"""A URL as a frozen value: its parts, exactly as written."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# RFC 3986 appendix B, with the authority split as section 3.2 reads it. It matches every string, and each repeated
# class excludes the delimiter that ends it, so time is linear. The third alternative of the host takes stray brackets
# and colons as a part of it.
_PARTS: Final = re.compile(
    r"(?>(?:([^:/?#]++):)?)"  # scheme
    r"(?>(?://(?>(?:([^/?#]*)@)?)(\[[^\]/?#@]*+\]|[^/?#@:\[\]]*|[^/?#@]*?)(?::([^/?#@:\]]*))?(?![^/?#]))?)"  # authority
    r"([^?#]*+)(?>(?:\?([^#]*+))?)(?>(?:#(.*+))?)",  # path, query, fragment
    re.DOTALL,
)


class URL(NamedTuple):
    """The parts of a URL as written, without their delimiters. `None` is absent, `""` is empty: they differ.

    `str(url)` gives back the text that was parsed, byte for byte. It is a named tuple because rules make one value per
    change, and a frozen dataclass takes three times as long to make.

    Attributes:
        scheme: what stands before the first `:` (RFC 3986 section 3.1).
        userinfo: what stands before the last `@` of the authority (section 3.2.1).
        host: a name or an address, an IPv6 address with its brackets; `None` without an authority (section 3.2.2).
        port: what stands after the `:` that ends the host (section 3.2.3).
        path: never absent (section 3.3).
        query: what stands after the first `?` (section 3.4).
        fragment: what stands after the first `#` (section 3.5).
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
        """Split any text into parts; nothing is judged or changed (RFC 3986 appendix B).

        Raises:
            TypeError: `text` is not a `str`.
        """
        match = _PARTS.fullmatch(text)
        assert match is not None  # noqa: S101 - every part of the pattern may be empty or take any character
        return cls(*match.groups())

    @property
    def authority(self) -> str | None:
        """User info, host and port with their delimiters; `None` where there is none (RFC 3986 section 3.2)."""
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

"""The origins that a client signs for, and URLs as it sends them. No content and no signature goes anywhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote

from undersigned.errors import MalformedURL, SigningError
from undersigned.message.request_target import check_sent
from undersigned.url import canonicalize
from undersigned.url.origin import Origins

if TYPE_CHECKING:
    from undersigned.url import CanonicalURL

ConfiguredOrigins: TypeAlias = Iterable[str] | Callable[[str], bool]
"""The origins that a client signs for: a list, or a function of an origin, such as `https://site.example`."""

_SCHEMES: Final = {"ws": "http", "wss": "https"}
"""A WebSocket handshake is an http request (RFC 6455 section 3)."""
_AFTER_AUTHORITY: Final = re.compile(r"[/?#].*", re.DOTALL)
_UNQUOTED: Final = re.compile(r"""["<>[\]^`{|}]""")
"""What RFC 3986 forbids in a URL, and HTTP libraries encode or send as it is, each in its own way."""


class ListedOrigins:
    """The origins that a client signs for. Requests to any other origin are not sent.

    Args:
        origins: as in `SigningOptions`.

    Attributes:
        listed: the listed origins, or none if there is a function.

    Raises:
        ConfigurationError: an origin has the wrong type or form.
    """

    __slots__ = ("_is_listed", "listed")

    def __init__(self, origins: ConfiguredOrigins) -> None:
        self.listed = () if callable(origins) or isinstance(origins, str) else tuple(origins)
        self._is_listed: Callable[[CanonicalURL], bool]
        if callable(origins):
            # Only True lists an origin: another function may return text.
            self._is_listed = lambda target: origins(origin_of(target)) is True
        else:
            self._is_listed = Origins(self.listed or origins).lists

    def check(self, url: str) -> CanonicalURL:
        """Return the canonical form of a URL whose origin is listed.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed.
        """
        target = url_as_sent(url)
        if not self._is_listed(target):
            raise SigningError(
                f"origins: {origin_of(target)} is not listed for this path; add it to origins=, "
                "do not follow the redirect that leads there, or send the request with a client that does not sign"
            )
        return target

    def find(self, url: str) -> str:
        """Return the origin of a URL, or "" if it is not listed."""
        try:
            return origin_of(self.check(url))
        except (MalformedURL, SigningError):
            return ""


def url_as_sent(url: str) -> CanonicalURL:
    """Return the canonical form of a URL as every client sends it.

    Args:
        url: an absolute URL. `ws` and `wss` become `http` and `https`.

    Raises:
        MalformedURL: it has no canonical form, or one that no receiver reads, as with a bad escape in its query.
    """
    scheme, separator, rest = url.partition("://")
    after = _AFTER_AUTHORITY.search(rest)
    if after is not None:
        rest = rest[: after.start()] + _UNQUOTED.sub(lambda found: quote(found[0]), after[0])
    canonical = canonicalize(f"{_SCHEMES.get(scheme.lower(), scheme)}{separator}{rest}")
    check_sent(canonical)
    return canonical


def origin_of(target: CanonicalURL) -> str:
    """Return the scheme and authority of a URL (RFC 6454 section 6.2)."""
    return f"{target.scheme}://{target.authority}"

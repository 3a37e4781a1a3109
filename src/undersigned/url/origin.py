"""Origins: the public schemes, authorities and path prefixes of a service (RFC 6454 section 4).

A message or a proxy can name any host. Only the operator knows the service's own names, and lists them here.
The scheme comes from this list, never from the message.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError, MalformedURL
from undersigned.limits import LONGEST_AUTHORITY
from undersigned.url.canonical import canonicalize, canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from undersigned.url.canonical import CanonicalURL


@dataclass(frozen=True, slots=True)
class Origin:
    """A public origin.

    Attributes:
        scheme: `http` or `https`.
        authority: the canonical host, with the port unless it is the scheme's default.
        prefix: the path a proxy strips before the application sees the request, or "".
    """

    scheme: str
    authority: str
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Parse `https://seller.example.com` or, with a prefix that a proxy strips, `https://seller.example.com/api`.

        Raises:
            ConfigurationError: `text` is not an http or https URL, or it has user info, a query or a fragment.
        """
        if not isinstance(text, str):
            raise ConfigurationError("origins: an origin must be a string, such as https://seller.example.com")
        try:
            url = canonicalize(text)
        except MalformedURL as malformed:
            raise ConfigurationError(f"origins: {malformed}; write an origin like https://seller.example.com") from None
        if url.query is not None or "#" in text or "@" in text.partition("://")[2].partition("/")[0]:
            raise ConfigurationError("origins: an origin must not have user info, a query or a fragment")
        return cls(url.scheme, url.authority, url.path.rstrip("/"))

    def __str__(self) -> str:
        """Return the origin as a URL."""
        return f"{self.scheme}://{self.authority}{self.prefix}"


class Origins:
    """The origins of one service, looked up by a received authority.

    Args:
        origins: the origins as text, in the form that `Origin.parse` takes.

    Attributes:
        by_authority: the origins by their canonical authority.

    Raises:
            ConfigurationError: the list is empty, or two origins have one authority.
    """

    __slots__ = ("_hosts", "_schemes", "by_authority")

    def __init__(self, origins: Iterable[str]) -> None:
        if isinstance(origins, (str, bytes)) or not isinstance(origins, Iterable):
            raise ConfigurationError("origins: pass a list, such as ['https://seller.example.com']")
        named: dict[str, Origin] = {}
        for origin in map(Origin.parse, origins):
            if named.setdefault(origin.authority, origin) is not origin:
                raise ConfigurationError(f"origins: {origin.authority} is listed twice; list each host once")
        if not named:
            raise ConfigurationError("origins: list the public origins, such as ['https://seller.example.com']")
        self.by_authority: Mapping[str, Origin] = named
        self._hosts = frozenset(_host(authority) for authority in self.by_authority)
        self._schemes = tuple(dict.fromkeys(origin.scheme for origin in self.by_authority.values()))

    def match(self, authority: str) -> Origin | None:
        """Return the origin with the authority of a received Host or `:authority` value, or None.

        Raises:
            MalformedURL: the value is not an authority.
        """
        exact = self.by_authority.get(authority)
        if exact is not None:
            return exact
        for scheme in self._schemes:
            origin = self.by_authority.get(received_authority(authority, scheme, hosts=self._hosts) or "")
            if origin is not None and origin.scheme == scheme:
                return origin
        return None

    def lists(self, target: CanonicalURL) -> bool:
        """Return whether `target` has the authority of an origin and a path below its prefix."""
        origin = self.match(target.authority)
        return origin is not None and origin.scheme == target.scheme and target.path.startswith(f"{origin.prefix}/")


def received_authority(authority: str, scheme: str, *, hosts: Container[str]) -> str | None:
    """Return the canonical form of a received Host or `:authority` value, or None if it cannot be one of `hosts`.

    Args:
        authority: the value as received.
        scheme: the scheme, whose default port is left out.
        hosts: canonical host names.

    Raises:
        MalformedURL: the value is not an authority, or is longer than `LONGEST_AUTHORITY`.
    """
    if len(authority) > LONGEST_AUTHORITY:
        raise MalformedURL(f"the authority has more than {LONGEST_AUTHORITY} characters", rule="length")
    name = authority.lower()
    if "xn--" in name and _host(name) not in hosts:
        # Checking an A-label is expensive and changes nothing, so an unknown host is rejected first.
        return None
    return canonicalize_authority(authority, scheme, received=True)


def _host(authority: str) -> str:
    """Return the host of an authority in lower case, without port and root dot."""
    return authority.partition(":")[0].removesuffix(".")

"""Origins: the public schemes, authorities and path prefixes of a service (RFC 6454 section 4).

A message or a proxy can name any host. Only the operator knows the service's own names, and lists them here.
The scheme comes from this list, never from the message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from undersigned.errors import ConfigurationError, MalformedURL
from undersigned.url.canonical import CanonicalURL, canonicalize, canonicalize_authority, comparable_authority
from undersigned.url.host import is_address

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

ConfiguredOrigins: TypeAlias = Iterable[str] | Callable[[str], str | None]
"""The origins of a service as an operator gives them: a list, or a function of the canonical authority of a request."""

_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_MOST_SHOWN: Final = 5


class Origin(NamedTuple):
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

    def canonical(self, path: str, query: str | None) -> CanonicalURL:
        """Return the canonical form of the URL with a path and query below this origin.

        It is what `canonicalize` returns, without looking at the authority again, which is canonical.

        Args:
            path: the path after the prefix. It starts with a slash.
            query: the query, or None. Neither it nor the path has a space, a control, a backslash, a `#` or non-ASCII.

        Raises:
            MalformedURL: the path has a bad escape or an encoded dot segment.
        """
        target = f"{self.prefix}{path}" if query is None else f"{self.prefix}{path}?{query}"
        if "%" in path or "/." in path:
            target = canonicalize(f"http://h{target}").target_uri.removeprefix("http://h")
        return CanonicalURL(f"{self.scheme}://{self.authority}{target}", self.authority)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.prefix}"


class Origins:
    """The origins of one service, looked up by a received authority.

    An origin in a list may be one of these:

    - `https://seller.example.com`;
    - with a path prefix that a proxy strips, `https://seller.example.com/api`;
    - a pattern for tenants, `https://*.example.com`: a name with exactly one more label, and not `example.com` itself;
    - for development, `http://localhost:8000`. It also means `http://127.0.0.1:8000` and `http://[::1]:8000`, and each
      of these means the others.

    Instead of a list, there may be a function. It gets the authority of each request in canonical form, such as
    `acme.example.com`, and returns the origin, such as `https://acme.example.com`, or None. It must not block. Only if
    it returns an origin are the authority's A-labels checked. An origin with another authority than the request's
    counts as None.

    Args:
        origins: the origins as text, or the function.

    Raises:
        ConfigurationError: the list is empty, or an authority is listed twice.
    """

    __slots__ = ("_ask", "_by_authority", "_described", "_patterns", "_schemes")

    def __init__(self, origins: ConfiguredOrigins) -> None:
        self._ask = origins if callable(origins) else None
        listed = () if callable(origins) else _read_list(origins)
        named: dict[str, Origin] = {}
        self._patterns: dict[str, Origin] = {}
        for text in listed:
            base = _pattern_base(text)
            origin = Origin.parse(text) if base is None else base
            if (named if base is None else self._patterns).setdefault(origin.authority, origin) is not origin:
                name = origin.authority if base is None else f"*.{origin.authority}"
                raise ConfigurationError(f"origins: {name} is listed twice; list it once, with one scheme and prefix")
        loopback = _other_loopbacks(named)
        self._by_authority: Mapping[str, Origin] = {**loopback, **named}
        known = (*self._by_authority.values(), *self._patterns.values())
        self._schemes = tuple(dict.fromkeys(origin.scheme for origin in known))
        self._described = _describe(listed, loopback.values())

    def __str__(self) -> str:
        """Return the origins as they are configured, with the other spellings of a loopback origin."""
        return self._described

    @property
    def are_loopback(self) -> bool:
        """Whether every origin is one of this machine: there is no function, and all hosts are loopback hosts."""
        return self._ask is None and all(map(_is_loopback, (*self._by_authority, *self._patterns)))

    def match(self, authority: str) -> Origin | None:
        """Return the origin with the authority of a received Host or `:authority` value, or None.

        Raises:
            MalformedURL: the value is not an authority.
            ConfigurationError: the function returned something else than an origin or None.
        """
        if authority in self._by_authority:
            return self._by_authority[authority]
        for scheme in self._schemes:
            canonical = comparable_authority(authority, scheme)
            origin = self._by_authority.get(canonical) or self._tenant(canonical)
            if origin is not None and origin.scheme == scheme:
                return origin
        return None if self._ask is None else _ask_function(self._ask, authority)

    def lists(self, target: CanonicalURL) -> bool:
        """Return whether `target` has the authority of an origin and a path below its prefix."""
        origin = self.match(target.authority)
        return origin is not None and origin.scheme == target.scheme and target.path.startswith(f"{origin.prefix}/")

    def _tenant(self, authority: str) -> Origin | None:
        """Return the origin of a tenant, if a pattern matches a comparable authority."""
        # The authority has no empty label, so there is exactly one label in front of the pattern's name.
        base = self._patterns.get(authority.partition(".")[2])
        return None if base is None else Origin(base.scheme, _checked(authority, base.scheme), base.prefix)


def _read_list(origins: object) -> tuple[str, ...]:
    if isinstance(origins, (str, bytes)) or not isinstance(origins, Iterable):
        raise ConfigurationError("origins: pass a list, such as ['https://seller.example.com'], or a function")
    listed = tuple(cast("Iterable[str]", origins))
    if not listed:
        raise ConfigurationError("origins: list the public origins, such as ['https://seller.example.com']")
    return listed


def _pattern_base(text: object) -> Origin | None:
    """Return the origin after a pattern's `*.`, or None if `text` is not a pattern.

    Raises:
        ConfigurationError: any name could match, or an address.
    """
    if not isinstance(text, str) or "://*." not in text:
        return None
    base = Origin.parse(text.replace("://*.", "://", 1))
    host = base.authority.partition(":")[0]
    if is_address(host) or ("." not in host and host != "localhost"):
        raise ConfigurationError("origins: a pattern needs a name of your own after the star: https://*.example.com")
    return base


def _other_loopbacks(named: Mapping[str, Origin]) -> dict[str, Origin]:
    """Return the origins that have another spelling of a loopback host than the listed ones, by their authority."""
    others: dict[str, Origin] = {}
    for authority, origin in named.items():
        spelled = [host for host in _LOOPBACK if authority == host or authority.startswith(f"{host}:")]
        if spelled and origin.scheme == "http":
            for host in _LOOPBACK:
                other = host + authority.removeprefix(spelled[0])
                if other not in named:
                    others[other] = Origin("http", other, origin.prefix)
    return others


def _ask_function(ask: Callable[[str], str | None], authority: str) -> Origin | None:
    """Return the origin that a function names, if it has the received authority."""
    text = ask(comparable_authority(authority, "https"))
    if text is None:
        return None
    _checked(authority, "https")
    origin = Origin.parse(text)
    return origin if comparable_authority(authority, origin.scheme) == origin.authority else None


def _checked(authority: str, scheme: str) -> str:
    """Return an authority whose A-labels are checked, unlike those of a comparable authority."""
    return canonicalize_authority(authority, scheme, received=True)


def _describe(listed: Sequence[str], loopback: Collection[Origin]) -> str:
    if not listed:
        return "those that a function names"
    more = f" and {len(listed) - _MOST_SHOWN} more" if len(listed) > _MOST_SHOWN else ""
    also = f"; for a loopback host also {', '.join(map(str, loopback))}" if loopback else ""
    return f"{', '.join(listed[:_MOST_SHOWN])}{more}{also}"


def _is_loopback(authority: str) -> bool:
    """Return whether a canonical authority names this machine (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3)."""
    host = authority if authority.endswith("]") else authority.rpartition(":")[0] or authority
    with suppress(ValueError):
        return ip_address(host.strip("[]")).is_loopback
    return host == "localhost" or host.endswith(".localhost")

"""The canonical form of a URL, as a value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from undersigned.errors import MalformedURL
from undersigned.url import spelling
from undersigned.url.authority import authority as authority_rule
from undersigned.url.host import LONGEST_NAME
from undersigned.url.rule_set import ADCP, ADCP_RECEIVED
from undersigned.url.spelling import PATH, PORT, QUERY
from undersigned.url.value import URL

_RESERVED: Final = r"%(?:2[0-9A-CF]|3[A-F]|[0189A-F][0-9A-F]|40|5[B-E]|60|7[BCDF])"
# Every repetition is possessive: without backtracking, time is linear.
_CANONICAL: Final = re.compile(
    r"http(?>(s)?)://"
    r"((?!xn--)[a-z0-9_-]{1,63}+(?>(?:\.(?!xn--)[a-z0-9_-]{1,63}+)*)"
    rf"(?>(?::(?(1)(?!443/)|(?!80/))(?:{PORT}))?)(?=/))"
    rf"{PATH}(?>(?:{_RESERVED}{PATH})*)(?>(?:{QUERY})?)"
)
_DOT_SEGMENT: Final = re.compile(r"/\.\.?(?![^/?])")


@dataclass(frozen=True, slots=True)
class CanonicalURL:
    """A URL in canonical form, as `canonicalize` returns it. Two are equal if their texts are equal.

    Attributes:
        target_uri: the whole URL, `scheme://authority`, path and query, as ASCII text without white space.
        authority: `host` or `host:port`, as in `target_uri`.
    """

    target_uri: str
    authority: str

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return self.target_uri.partition(":")[0]

    @property
    def host(self) -> str:
        """The name, the IPv4 address, or the IPv6 address in brackets."""
        host, colon, port = self.authority.rpartition(":")
        return host if colon and port[-1] != "]" else self.authority

    @property
    def port(self) -> int | None:
        """The port, or `None` if it is the scheme's default."""
        port = self.authority[len(self.host) + 1 :]
        return int(port) if port else None

    @property
    def path(self) -> str:
        """The path, which starts with a slash."""
        return self._path_and_query[0]

    @property
    def query(self) -> str | None:
        """The query without its `?`: `None` if there is no `?`, `""` if nothing follows it."""
        _, mark, query = self._path_and_query
        return query if mark else None

    @property
    def _path_and_query(self) -> tuple[str, str, str]:
        # The text of the authority starts right after `://`.
        start = self.target_uri.index("://") + len("://") + len(self.authority)
        return self.target_uri[start:].partition("?")

    def __str__(self) -> str:
        return self.target_uri


def canonicalize(url: str, *, received: bool = False) -> CanonicalURL:
    """Return the canonical form of `url` by the AdCP URL canonicalization algorithm (`ADCP`).

    The result is ASCII without white space, and it is its own canonical form. Time is linear in the length of `url`.

    Args:
        url: an absolute http or https URL.
        received: `True` if the URL comes from a peer. A host with non-ASCII characters is then rejected, not converted
            (AdCP step 2).

    Raises:
        MalformedURL: `url` has no canonical form. The error's `rule` names the rule that rejected it.
        TypeError: `url` is not a `str`.
    """
    canonical = canonical_already(url)
    if canonical is not None:
        return canonical
    known = spelling.common(url, received=received)
    return _by_rules(URL.parse(url), received=received) if known is None else CanonicalURL(*known)


def canonical_already(url: str) -> CanonicalURL | None:
    """Return `url` as it is if it is already canonical and has a plain name and path.

    `None` does not mean that `url` is not canonical: it may have an IPv6 address, an A-label or a port above 59999.

    Raises:
        TypeError: `url` is not a `str`.
    """
    if "/." in url and _DOT_SEGMENT.search(url):
        return None
    match = _CANONICAL.fullmatch(url)
    if match is None:
        return None
    # Not `url` itself, which may be an instance of a subclass of `str`.
    target_uri, authority = match.group(0, 2)
    return CanonicalURL(target_uri, authority) if len(authority) <= LONGEST_NAME else None


def canonicalize_authority(authority: str, scheme: str, *, received: bool = False) -> str:
    """Return the canonical form of an authority, such as the value of `Host` or `:authority`.

    Args:
        authority: `host` or `host:port`.
        scheme: the scheme of the authority, which determines the default port.
        received: as in `canonicalize`.

    Raises:
        MalformedURL: `authority` has no canonical form, it contains more than a host and a port, or `scheme` is neither
            http nor https.
        TypeError: an argument is not a `str`.
    """
    written = scheme + "://" + authority + "/"
    if scheme in {"https", "http"}:
        match = _CANONICAL.fullmatch(written)
        if match is not None and match[2] == authority and len(authority) <= LONGEST_NAME:
            return match[2]
        usual = spelling.common_authority(authority, scheme, received=received)
        if usual is not None:
            return usual
    url = URL.parse("//" + authority)
    if url.path or (url.userinfo, url.query, url.fragment) != (None, None, None):
        raise MalformedURL("the authority must be a host and an optional port only", rule=authority_rule.name)
    return _by_rules(url._replace(scheme=scheme), received=received).authority


def same_url(a: str, b: str) -> bool:
    """Return whether two URLs have one canonical form (`canonicalize`).

    Raises:
        MalformedURL: one of the URLs has no canonical form.
        TypeError: one of the URLs is not a `str`.
    """
    return canonicalize(a) == canonicalize(b)


def _by_rules(url: URL, *, received: bool) -> CanonicalURL:
    for rule in ADCP_RECEIVED if received else ADCP:
        url = rule.apply(url)
    return CanonicalURL(str(url), url.authority or "")

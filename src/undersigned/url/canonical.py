"""The canonical form of a URL, as a value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned.errors import MalformedURL
from undersigned.limits import LONGEST_AUTHORITY
from undersigned.url.host import LONGEST_NAME, a_labels
from undersigned.url.parts import URL
from undersigned.url.path import has_dot_segments
from undersigned.url.rule_set import ADCP, ADCP_RECEIVED
from undersigned.url.scheme_and_authority import authority as authority_rule

if TYPE_CHECKING:
    from undersigned.url.rule_set import RuleSet

# Nearly every URL is canonical already. This one is, unless it has a dot segment: its path has no escape, and its
# authority is no IPv6 address and has no default port. Every repetition is possessive, so time is linear.
_CANONICAL: Final = re.compile(
    r"https?://([a-z0-9_-]{1,63}+(?>(?:\.[a-z0-9_-]{1,63}+)*)(?>(?::(?!(?:80|443)/)[1-9][0-9]{0,3}+)?))"
    r"/[!\"$&->@-\[\]-~]*+(?>(?:\?[!-\"$-\[\]-~]*+)?)"
)

_A_LABELS_UNCHECKED: Final[RuleSet] = tuple([rule for rule in ADCP_RECEIVED if rule is not a_labels])


class CanonicalURL(NamedTuple):
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
    return _if_canonical(url) or _apply(ADCP_RECEIVED if received else ADCP, URL.parse(url))


def canonicalize_authority(authority: str, scheme: str, *, received: bool = False) -> str:
    """Return the canonical form of an authority, such as the value of `Host` or `:authority`.

    Args:
        authority: `host` or `host:port`.
        scheme: the scheme of the authority, which determines the default port.
        received: as in `canonicalize`.

    Raises:
        MalformedURL: `authority` has no canonical form, it contains more than a host and a port, or `scheme` is neither
            http nor https.
        TypeError: `authority` is not a `str`.
    """
    return _authority(ADCP_RECEIVED if received else ADCP, authority, scheme)


def comparable_authority(authority: str, scheme: str) -> str:
    """Return a received authority in the form in which to look it up among names of your own.

    It is the canonical form, but its A-labels are not checked: that is expensive, and any sender can write them. A name
    of your own is canonical, so a text that equals it has valid A-labels.

    Raises:
        MalformedURL: as `canonicalize_authority`, or the authority is longer than `LONGEST_AUTHORITY`.
    """
    if len(authority) > LONGEST_AUTHORITY:
        raise MalformedURL(
            f"the authority has {len(authority):,} characters, and at most {LONGEST_AUTHORITY:,} are read: a domain "
            f"name has at most {LONGEST_NAME}",
            rule="authority-length",
        )
    return _authority(_A_LABELS_UNCHECKED, authority, scheme)


def same_url(a: str, b: str) -> bool:
    """Return whether two URLs have one canonical form (`canonicalize`).

    Raises:
        MalformedURL: one of the URLs has no canonical form.
        TypeError: one of the URLs is not a `str`.
    """
    return canonicalize(a) == canonicalize(b)


def _if_canonical(url: str) -> CanonicalURL | None:
    """Return `url` if it is plainly canonical already. None means that the rules decide."""
    match = _CANONICAL.fullmatch(url)
    if match is None or "xn--" in match[1] or len(match[1]) > LONGEST_NAME or has_dot_segments(url.partition("?")[0]):
        return None
    # Not `url` itself, which may be an instance of a subclass of `str`.
    return CanonicalURL(match[0], match[1])


def _authority(rules: RuleSet, authority: str, scheme: str) -> str:
    plain = _if_canonical(f"https://{authority}/")
    if scheme in {"https", "http"} and plain is not None and plain.authority == authority:
        return plain.authority
    url = URL.parse("//" + authority)
    if url.path or (url.userinfo, url.query, url.fragment) != (None, None, None):
        raise MalformedURL("the authority must be a host and an optional port only", rule=authority_rule.name)
    return _apply(rules, url._replace(scheme=scheme)).authority


def _apply(rules: RuleSet, url: URL) -> CanonicalURL:
    for rule in rules:
        url = rule.apply(url)
    return CanonicalURL(str(url), url.authority or "")

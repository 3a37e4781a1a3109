"""Sites: which hosts one owner registered, by the public suffix list."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv6Network

from undersigned.errors import needs_extra
from undersigned.url.host import is_address

with needs_extra("discovery"):
    from publicsuffixlist import PublicSuffixList


_suffixes = cache(PublicSuffixList)
"""The list is the one of the installed package, dated by the package's version; it is never fetched."""


def registrable_domain(host: str) -> str | None:
    """Return the registrable domain of a host in canonical form, or None if it has none.

    Private suffixes such as `github.io` count (AdCP, origin binding). Addresses and public suffixes have no registrable
    domain.
    """
    return None if is_address(host) else _suffixes().privatesuffix(host)


def site_of(host: str) -> str:
    """Return what stands for all hosts of one owner: a registrable domain, a /64 of IPv6, or else the host.

    Whoever owns a domain can name any number of hosts in it.
    """
    if ":" in host:
        return str(IPv6Network((host, 64), strict=False))
    return registrable_domain(host) or host

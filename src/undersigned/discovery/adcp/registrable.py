"""Registrable domains: the part of a host name that one owner registered (eTLD+1), by the Public Suffix List."""

from __future__ import annotations

from functools import cache

from publicsuffixlist import PublicSuffixList

from undersigned.url.host import is_address


def registrable_domain(host: str) -> str | None:
    """Return the registrable domain of a host in canonical form, or None if it has none.

    Private suffixes such as `github.io` count (AdCP, origin binding). Addresses and public suffixes have no registrable
    domain.
    """
    return None if is_address(host) else _suffixes().privatesuffix(host)


@cache
def _suffixes() -> PublicSuffixList:
    # The list is the one of the installed package, dated by the package's version; it is never fetched.
    return PublicSuffixList()

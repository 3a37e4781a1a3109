"""Usual spellings: the canonical form of a usual URL without running the rules.

Nearly all URLs on the wire are usual ones. For these, `common` returns the same result as the rule set `ADCP` for less
work. Tests compare it with the rules.
"""

from __future__ import annotations

import re
from typing import Final

from undersigned.url.authority import DEFAULT_PORTS
from undersigned.url.host import ends_in_a_number, is_reg_name, to_ascii
from undersigned.url.path import canonical_path

# Every repetition below is possessive: without backtracking, time is linear. `[!-"$-\[\]-~]` is printable ASCII except
# space, backslash and `#`. A path also stops at `?` and, for its triplets, at `%`.
QUERY: Final = r"\?[!-\"$-\[\]-~]*+"
PATH: Final = r"[!\"$&->@-\[\]-~]*+"
PORT: Final = r"[1-5][0-9]{4}|[1-9][0-9]{0,3}"

_COMMON: Final = re.compile(
    r"([Hh][Tt][Tt][Pp][Ss]?+)://"
    r"(?>(?:[!-\"$-.0->A-Z^-~]*+@)?)"
    r"([^\x00-,/:-@\[-^`{-\x7f]++)"  # letters, digits, `.`, `_`, `-`, and non-ASCII
    rf"(?>(?::({PORT}|))?)"
    rf"((?>(?:/{PATH}(?>(?:%[0-9A-Fa-f]{{2}}{PATH})*))?))({QUERY}|)(?>(?:#[!-\[\]-~]*+)?)"
)
# As above, with zeros in front of the port too.
_AUTHORITY: Final = re.compile(rf"([^\x00-,/:-@\[-^`{{-\x7f]++)(?>(?::(?:0*+({PORT})|))?)")


def common(url: str, *, received: bool = False) -> tuple[str, str] | None:
    """Return the canonical form of `url` and its authority if `url` differs from it only in usual ways, else `None`.

    They are case, U-labels, user info, the default port, one trailing dot of the host, an empty path, dot segments,
    percent-encoding and a fragment. `received` is as in `canonicalize`.
    """
    match = _COMMON.fullmatch(url)
    if match is None:
        return None
    scheme, host, port, path, query = match.groups("")
    scheme, authority = scheme.lower(), _name(host, received=received)
    if authority is None:
        return None
    if port and (scheme, port) not in DEFAULT_PORTS:
        authority = f"{authority}:{port}"
    canonical = canonical_path(path)
    return None if canonical is None else (f"{scheme}://{authority}{canonical}{query}", authority)


def common_authority(authority: str, scheme: str, *, received: bool = False) -> str | None:
    """Return the canonical form of `authority` if it differs from it only in usual ways, else `None`.

    They are those of `common`, and zeros in front of the port. The scheme is `http` or `https`.
    """
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        return None
    host, port = match.groups("")
    name = _name(host, received=received)
    if name is None or not port or (scheme, port) in DEFAULT_PORTS:
        return name
    return f"{name}:{port}"


def _name(host: str, *, received: bool) -> str | None:
    name = host.lower()
    if not host.isascii() or "xn--" in name:
        if received and not host.isascii():
            return None
        try:
            name = to_ascii(host).lower()
        except UnicodeError:
            return None
    if name[-1:] == ".":
        name = name[:-1]
        if ends_in_a_number(name):
            return None
    return name if is_reg_name(name) else None

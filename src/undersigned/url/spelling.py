"""Fast paths: the canonical form of usual URLs without running the rules.

Nearly all URLs on the wire are usual ones. Each function returns the same result as the rule set `ADCP` for less work,
or `None` if only the rules can tell. Tests compare the functions with the rules.
"""

from __future__ import annotations

import re
from typing import Final

from undersigned.url.authority import DEFAULT_PORTS
from undersigned.url.host import LONGEST_NAME, ends_in_a_number, is_reg_name, to_ascii
from undersigned.url.path import decode_unreserved, has_dot_segments, remove_dot_segments, upper_triplets

# Every repetition below is possessive: without backtracking, time is linear. `[!-"$-\[\]-~]` is printable ASCII except
# space, backslash and `#`. A path also stops at `?` and, for its triplets, at `%`.
_QUERY: Final = r"\?[!-\"$-\[\]-~]*+"
_PATH: Final = r"[!\"$&->@-\[\]-~]*+"
_PORT: Final = r"[1-5][0-9]{4}|[1-9][0-9]{0,3}"
_RESERVED: Final = r"%(?:2[0-9A-CF]|3[A-F]|[0189A-F][0-9A-F]|40|5[B-E]|60|7[BCDF])"

_CANONICAL: Final = re.compile(
    r"http(?>(s)?)://"
    r"((?!xn--)[a-z0-9_-]{1,63}+(?>(?:\.(?!xn--)[a-z0-9_-]{1,63}+)*)"
    rf"(?>(?::(?(1)(?!443/)|(?!80/))(?:{_PORT}))?)(?=/))"
    rf"{_PATH}(?>(?:{_RESERVED}{_PATH})*)(?>(?:{_QUERY})?)"
)
_COMMON: Final = re.compile(
    r"([Hh][Tt][Tt][Pp][Ss]?+)://"
    r"(?>(?:[!-\"$-.0->A-Z^-~]*+@)?)"
    r"([^\x00-,/:-@\[-^`{-\x7f]++)"  # letters, digits, `.`, `_`, `-`, and non-ASCII
    rf"(?>(?::({_PORT}|))?)"
    rf"((?>(?:/{_PATH}(?>(?:%[0-9A-Fa-f]{{2}}{_PATH})*))?))({_QUERY}|)(?>(?:#[!-\[\]-~]*+)?)"
)
_DOT_SEGMENT: Final = re.compile(r"/\.\.?(?![^/?])")


def canonical(url: str) -> tuple[str, str] | None:
    """Return `url` and its authority if `url` is already canonical and has a plain name and path.

    `None` does not mean that `url` is not canonical: it may have an IPv6 address, an A-label or a port above 59999.

    Raises:
        TypeError: `url` is not a `str`.
    """
    match = _CANONICAL.fullmatch(url)
    if match is None or ("/." in url and _DOT_SEGMENT.search(url)):
        return None
    # Not `url` itself, which may be an instance of a subclass of `str`.
    target_uri, authority = match.group(0, 2)
    return (target_uri, authority) if len(authority) <= LONGEST_NAME else None


def common(url: str, *, received: bool = False) -> tuple[str, str] | None:
    """Return the canonical form of `url` and its authority if `url` differs from it only in usual ways.

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
    if has_dot_segments(path):
        path = remove_dot_segments(path)
    if "%" in path:
        path = upper_triplets(decode_unreserved(path))
        if has_dot_segments(path):
            return None
    return f"{scheme}://{authority}{path or '/'}{query}", authority


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

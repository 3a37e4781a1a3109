"""Rules on the path: its percent triplets, its dot segments, the empty path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.rule import quote, rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.url.parts import URL

_BAD_TRIPLET: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LOWER_TRIPLET: Final = re.compile(r"(%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f]))")
_UNRESERVED: Final = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"  # RFC 3986 section 2.3
# `%2F` is none of them, so it stays: `/a%2Fb` and `/a/b` are two paths.
# The first digit of each triplet is decimal, so these are all its spellings.
_DECODED: Final[Mapping[str, str]] = {
    triplet: char for char in _UNRESERVED for triplet in (f"%{ord(char):02X}", f"%{ord(char):02x}")
}
_UNRESERVED_TRIPLET: Final = re.compile(r"(%(?:2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe]))")
_DOT_SEGMENT: Final = re.compile(r"/\.\.?(?![^/])")


def remove_dot_segments(path: str) -> str:
    """Return a path that starts with a slash without its `.` and `..` segments (RFC 3986 section 5.2.4)."""
    # Uses a stack: the string form in the standard takes quadratic time.
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            # The text before the first slash is not a segment and stays.
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/".join(kept)


def decode_unreserved(path: str) -> str:
    """Return `path` with the triplets of unreserved characters decoded (RFC 3986 section 6.2.2.2).

    Two hexadecimal digits follow each percent sign.
    """
    pieces = _UNRESERVED_TRIPLET.split(path)
    pieces[1::2] = map(_DECODED.__getitem__, pieces[1::2])
    return "".join(pieces)


def upper_triplets(path: str) -> str:
    """Return `path` with its triplets in upper case (RFC 3986 section 6.2.2.1)."""
    pieces = _LOWER_TRIPLET.split(path)
    pieces[1::2] = map(str.upper, pieces[1::2])
    return "".join(pieces)


def has_dot_segments(path: str) -> bool:
    """Return whether a path that starts with a slash has a `.` or `..` segment."""
    return "/." in path and _DOT_SEGMENT.search(path) is not None


@rule("triplets", source="RFC 3986 section 2.1", preserves="always")
def triplets(url: URL) -> URL:
    """Reject a percent sign in the path unless two hexadecimal digits follow it."""
    bad = _BAD_TRIPLET.search(url.path)
    if bad is None:
        return url
    found = quote(url.path[bad.start() : bad.start() + 3])
    raise MalformedURL(
        f"the path contains {found}: expected two hexadecimal digits after '%'; write a percent sign as %25",
        rule=triplets.name,
    )


@rule("dot-segments", source="AdCP step 5; RFC 3986 section 5.2.4", preserves="always")
def dot_segments(url: URL) -> URL:
    """Remove `.` and `..` segments from a path that starts with a slash; repeated slashes stay."""
    if url.path[:1] != "/" or not has_dot_segments(url.path):
        return url
    return url._replace(path=remove_dot_segments(url.path))


@rule("empty-path", source="AdCP step 5; RFC 3986 section 6.2.3", preserves="always")
def empty_path(url: URL) -> URL:
    """Replace an empty path after an authority by a slash."""
    return url if url.path or url.host is None else url._replace(path="/")


@rule("unreserved", source="AdCP step 6; RFC 3986 section 6.2.2.2", preserves="always")
def unreserved(url: URL) -> URL:
    """Decode the percent-encoded letters, digits, `-`, `.`, `_` and `~` of the path."""
    return _with_path(url, decode_unreserved(url.path)) if "%" in url.path else url


@rule("hex-case", source="AdCP step 6; RFC 3986 section 6.2.2.1", preserves="always")
def hex_case(url: URL) -> URL:
    """Put the hexadecimal digits of the path's percent triplets in upper case."""
    return _with_path(url, upper_triplets(url.path)) if "%" in url.path else url


@rule("encoded-dots", source="AdCP steps 5 and 6; RFC 3986 section 6.2.2.3", preserves="always")
def encoded_dots(url: URL) -> URL:
    """Reject a path that contains a `.` or `..` segment after decoding."""
    if not has_dot_segments(url.path):
        return url
    # If the segment stayed, canonicalizing the result again would change it. If it were removed, the path would differ
    # from the one that servers use which remove dot segments before they decode.
    raise MalformedURL(
        "the path contains a percent-encoded '.' or '..' segment, which servers interpret differently; remove it",
        rule=encoded_dots.name,
    )


def _with_path(url: URL, path: str) -> URL:
    return url if path == url.path else url._replace(path=path)

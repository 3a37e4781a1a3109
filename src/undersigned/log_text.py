"""Text for a log: printable, and cut to a length."""

from __future__ import annotations

from itertools import takewhile

from undersigned.limits import LONGEST_LOGGED

_NAME_BYTES = 32


def printable(text: str, *, limit: int = LONGEST_LOGGED) -> str:
    """Return `text` for a log line: everything but printable ASCII escaped, and cut to `limit` characters."""
    if len(text) <= limit and text.isascii() and text.isprintable() and "\\" not in text:
        return text
    cut = text[:limit]
    clean = cut.encode("unicode_escape").decode("ascii")
    return clean if len(text) <= limit else f"{clean}... ({len(text)} characters)"


def cut_name(name: str) -> str:
    """Return a member name for a log: up to its first unprintable character, and at most 32 bytes.

    The cut is between two characters (AdCP, logging of body failures).
    """
    shown = "".join(takewhile(str.isprintable, name))
    return shown.encode("utf-8", "surrogatepass")[:_NAME_BYTES].decode("utf-8", "ignore")

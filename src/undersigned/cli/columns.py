"""Columns: two texts next to each other, with a mark at the first difference."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.conformance import Difference

NARROWEST = 20
"""The smallest width of a column in characters."""

_EXPECTED = "expected: "
_FOUND = "found:    "
_BETWEEN = "  "
_AROUND = 20


def lines(difference: Difference, *, width: int) -> Iterator[tuple[str, bool]]:
    """Yield the lines that show a difference, each with a flag: whether it is the mark below the first difference.

    Two one-line texts are shown one above the other if each fits into two columns of `width` characters. Other texts
    are shown in two columns. If nothing was expected, only the found text is shown.
    """
    expected, found = _escape(difference.expected), _escape(difference.found)
    if not difference.expected:
        yield found, False
    elif len(_EXPECTED) + max(len(expected), len(found)) > 2 * width or "\n" in difference.expected:
        yield from _side_by_side(difference, width=width)
    else:
        yield f"{_EXPECTED}{expected}", False
        yield f"{_FOUND}{found}", False
        yield " " * (len(_FOUND) + _position(difference)[1]) + "^", True


def _side_by_side(difference: Difference, *, width: int) -> Iterator[tuple[str, bool]]:
    """Yield both texts in two columns.

    Characters other than printable ASCII are escaped. A line that is longer than its column continues in the next row.
    For a long text, only the rows around the difference are shown.
    """
    number, column = _position(difference)
    rows: list[tuple[str, str]] = []
    marked = 0
    texts = zip_longest(difference.expected.split("\n"), difference.found.split("\n"), fillvalue="")
    for index, (expected, found) in enumerate(texts):
        left, right = _pieces(_escape(expected), width), _pieces(_escape(found), width)
        if index == number:
            marked = len(rows) + column // width
        rows += zip_longest(left, right, fillvalue="")
    yield _row("expected", "found", width), False
    mark = " " * (column % width) + "^"
    for index, (expected, found) in enumerate(rows):
        if abs(index - marked) <= _AROUND:
            yield _row(expected, found, width), False
        if index == marked:
            yield _row(mark, mark, width), True


def _position(difference: Difference) -> tuple[int, int]:
    """Return the line of the first difference, and its column in the escaped line."""
    before = difference.expected[: difference.character]
    line = before.rpartition("\n")[2]
    return before.count("\n"), len(_escape(line))


def _escape(text: str) -> str:
    plain = text.isascii() and text.isprintable()
    return text if plain else "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    plain = character.isascii() and character.isprintable()
    return character if plain else character.encode("unicode_escape").decode("ascii")


def _pieces(text: str, width: int) -> list[str]:
    # A full last piece is followed by an empty one, so that a mark after the last character has its row.
    return [text[start : start + width] for start in range(0, len(text) + 1, width)]


def _row(left: str, right: str, width: int) -> str:
    return f"{left:<{width}}{_BETWEEN}{right}".rstrip()

"""Columns: two texts side by side, the first difference marked."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.conformance import Difference

NARROWEST = 20
"""Characters a column has at least."""

_EXPECTED = "expected: "
_FOUND = "found:    "
_BETWEEN = "  "
_AROUND = 20


def lines(difference: Difference, *, width: int) -> Iterator[tuple[str, bool]]:
    """Yield the lines that show a difference, and whether each is the mark under the first character that differs.

    Two texts of one line stand one above the other where they fit into two columns of `width` characters, and side by
    side otherwise. Where nothing was expected, as of a file that cannot be read, what was found stands alone.
    """
    expected, found = _shown(difference.expected), _shown(difference.found)
    if not difference.expected:
        yield found, False
    elif len(_EXPECTED) + max(len(expected), len(found)) > 2 * width or "\n" in difference.expected:
        yield from _side_by_side(difference, width=width)
    else:
        yield f"{_EXPECTED}{expected}", False
        yield f"{_FOUND}{found}", False
        yield " " * (len(_FOUND) + _place(difference)[1]) + "^", True


def _side_by_side(difference: Difference, *, width: int) -> Iterator[tuple[str, bool]]:
    """Yield both texts in two columns.

    What is not printable ASCII is escaped, a line that is longer than its column goes on below, and of long texts only
    what stands around the difference is shown.
    """
    number, column = _place(difference)
    rows: list[tuple[str, str]] = []
    marked = 0
    texts = zip_longest(difference.expected.split("\n"), difference.found.split("\n"), fillvalue="")
    for index, (expected, found) in enumerate(texts):
        left, right = _pieces(_shown(expected), width), _pieces(_shown(found), width)
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


def _place(difference: Difference) -> tuple[int, int]:
    """Return the line of the first difference, and its column in what is shown of that line."""
    before = difference.expected[: difference.character]
    line = before.rpartition("\n")[2]
    return before.count("\n"), len(_shown(line))


def _shown(text: str) -> str:
    plain = text.isascii() and text.isprintable()
    return text if plain else "".join(map(_shown_character, text))


def _shown_character(character: str) -> str:
    plain = character.isascii() and character.isprintable()
    return character if plain else character.encode("unicode_escape").decode("ascii")


def _pieces(text: str, width: int) -> list[str]:
    # One piece more than is full, so that a mark behind the last character has its row.
    return [text[start : start + width] for start in range(0, len(text) + 1, width)]


def _row(left: str, right: str, width: int) -> str:
    return f"{left:<{width}}{_BETWEEN}{right}".rstrip()

"""JSON as languages and libraries write it: a template of the value, which each style fills in."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import partial
from itertools import product
from math import isinf
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from undersigned.message.strict_json import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_COMMA, _COLON, _LINE, _ELEMENT, _OBJECT, _ARRAY, _EMPTY = map(chr, range(1, 8))
"""Marks of a template: separators, line ends, levels of both kinds, and what is empty. No string of JSON has them."""
_LEVELS: Final = f"[{_OBJECT}{_ARRAY}]*"
_NOTHING: Final = re.compile(f"{_EMPTY}({_LINE}{_LEVELS})")
_ELEMENTS: Final = re.compile(f"{_ELEMENT}{_LEVELS}")
_NUMBER: Final = re.compile(r'"\\u0000([^"]*)"')
_DEEPEST: Final = 32


def other_json(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the same JSON as the usual languages and libraries write it, each with a description."""
    try:
        read = loads(body)
        # A number is marked as one in a string, so that it is written as it is spelled.
        value = cast("object", json.loads(body, parse_float="\0{}".format, parse_int="\0{}".format))
        if isinstance(read, (dict, list)):
            yield "the JSON as str() of Python writes it", str(read)
    except (ValueError, RecursionError):
        return
    if isinstance(read, str):
        yield "the JSON in the string that the body is", read
    for styles in (_USUAL, _UNUSUAL):
        seen: set[int] = set()
        for about, template in _templates(value):
            if hash(template) in seen:
                continue
            seen.add(hash(template))
            for style in styles:
                words, text = f"the same JSON written {style.words}{about}", style.fill(template)
                yield words, text
                yield f"{words}, and LF", f"{text}\n"
                yield f"{words}, with CRLF", text.replace("\n", "\r\n")


class _Style(NamedTuple):
    """How the parts of JSON are separated. Without an indent, all of it is in one line."""

    words: str
    indent: str | None
    comma: str
    colon: str
    empty: str = ""
    arrays_in_lines: bool = True

    def fill(self, text: str) -> str:
        """Return a template in this style."""
        if not self.arrays_in_lines:
            text = _ELEMENTS.sub(" ", text).replace(_ARRAY, "")
        text = _NOTHING.sub(self.empty, text)
        line, indent = ("", "") if self.indent is None else ("\n", self.indent)
        marks = {_LINE: line, _ELEMENT: line, _OBJECT: indent, _ARRAY: indent, _COMMA: self.comma, _COLON: self.colon}
        for mark, written in marks.items():
            text = text.replace(mark, written)
        return text


_USUAL: Final = (
    _Style("compactly", None, ",", ":"),
    _Style("with spaces, as json.dumps does", None, ", ", ": "),
    _Style("indented by 2", "  ", ",", ": "),
    _Style("indented by 4", "    ", ",", ": "),
)
_INDENTS: Final = {"tabs": "\t"} | {str(width): " " * width for width in range(1, 9)}
_MARKS: Final = {
    "": (",", ": "),
    " with a space before each colon": (",", " : "),
    " with no space after a colon": (",", ":"),
    " with a space after each comma, as Python 2 does": (", ", ": "),
}
_UNUSUAL: Final = (
    _Style("with spaces around each colon, as json_build_object of PostgreSQL does", None, ", ", " : "),
    _Style("with a space after each colon", None, ",", ": "),
    _Style("with a space after each comma", None, ", ", ":"),
    _Style("indented by 2, as Jackson does", "  ", ",", " : ", " ", arrays_in_lines=False),
    _Style("indented by 2, as Swift does", "  ", ",", " : ", r"\n\1"),
    *(
        _Style(f"indented by {words}{about}", indent, *marks)
        for (words, indent), (about, marks) in product(_INDENTS.items(), _MARKS.items())
    ),
)


def _templates(value: object) -> Iterator[tuple[str, str]]:
    """Yield templates of a value with its members in each order, and its numbers and characters in each spelling."""
    shapes: dict[str, str] = {}
    for (order, sort), (omitted, omits) in product(_ORDERS.items(), _OMITTED.items()):
        shapes.setdefault(_template(value, sort, omits), order + omitted)
    for (number, spell), (shape, words) in product(_NUMBERS.items(), shapes.items()):
        text = _NUMBER.sub(lambda found: spell(found[1]), shape)  # noqa: B023 - used here
        for escapes, characters in _ESCAPES.items():
            yield f"{words}{escapes}{number}", _escaped(text, *characters)


def _template(
    value: object, sort: Callable[[str], tuple[int, str]] | None, omits: Callable[[object], bool], depth: int = 0
) -> str:
    """Return the template of a value. What is nested too deeply to be tried is left out."""
    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    if depth > _DEEPEST:
        return ""
    write = partial(_template, sort=sort, omits=omits, depth=depth + 1)
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        names = [name for name in members if not omits(members[name])]
        names = names if sort is None else sorted(names, key=sort)
        texts = [f"{json.dumps(name, ensure_ascii=False)}{_COLON}{write(members[name])}" for name in names]
        begin, end, line, level = "{", "}", _LINE, _OBJECT
    else:
        texts = list(map(write, cast("list[object]", value)))
        begin, end, line, level = "[", "]", _ELEMENT, _ARRAY
    if not texts:
        return f"{begin}{_EMPTY}{_LINE}{end}"
    inner = f"{line}{f'{_COMMA}{line}'.join(texts)}"
    for mark in (_LINE, _ELEMENT):
        inner = inner.replace(mark, f"{mark}{level}")
    return f"{begin}{inner}{line}{end}"


_ORDERS: Final[Mapping[str, Callable[[str], tuple[int, str]] | None]] = {
    "": None,
    ", with sorted keys": lambda name: (0, name),
    ", with keys sorted by length, as jsonb of PostgreSQL does": lambda name: (len(name.encode()), name),
}


_OMITTED: Final[Mapping[str, Callable[[object], bool]]] = {
    "": lambda _: False,
    ", without null members": lambda member: member is None,
    ", without empty members, as omitempty of Go does": lambda member: member in (None, False, "", [], {}, "\0" + "0"),
}


def _double(least: int, most: int, *, exponent: str, whole: str = "", mantissa: str = "") -> Callable[[str], str]:
    """Return a function that writes a number as a double, plainly from the power of ten `least` to below `most`.

    `whole` follows a whole number that is written plainly, and `mantissa` one before an exponent.
    """

    def spell(text: str) -> str:
        number = float(text)
        if isinf(number):
            return text
        decimal = Decimal(repr(number or 0.0)).normalize()
        first, _, power = f"{decimal:e}".partition("e")
        if least <= int(power) < most:
            plain = f"{decimal:f}"
            return plain if "." in plain else plain + whole
        return f"{first if '.' in first else first + mantissa}{exponent.format(int(power))}"

    return spell


def _unless_whole(spell: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: text if text.removeprefix("-").isdecimal() else spell(text)


_DOUBLES: Final[Mapping[str, Callable[[str], str]]] = {
    "Python": lambda text: repr(float(text)),
    "Java": _double(-3, 7, exponent="E{}", whole=".0", mantissa=".0"),
    "Ruby": _double(-4, 16, exponent="e{:+03d}", whole=".0", mantissa=".0"),
    "C#": _double(-5, 15, exponent="E{:+03d}"),
    "PHP": _double(-4, 17, exponent="e{:+d}", mantissa=".0"),
    "PHP before 7.1": lambda text: f"{float(text):.17g}",
    "Rust": _double(-5, 16, exponent="e{}", whole=".0"),
}
_NUMBERS: Final[Mapping[str, Callable[[str], str]]] = {
    "": str,
    ", with numbers as JavaScript writes them": _double(-6, 21, exponent="e{:+d}"),
    **{f", with numbers as {name} writes them": _unless_whole(spell) for name, spell in _DOUBLES.items()},
    ", with .0 after whole numbers": lambda text: f"{text}.0" if text.removeprefix("-").isdecimal() else text,
    ", with two decimals": _unless_whole(lambda text: f"{float(text):.2f}"),
    ", with two decimals of all numbers": lambda text: f"{float(text):.2f}",
    **{f", with all numbers as {name} writes doubles": spell for name, spell in _DOUBLES.items()},
    ", with numbers as strings": '"{}"'.format,
}
"""How languages write numbers."""


def _escaped(text: str, lower: str, upper: str) -> str:
    """Return JSON with these characters of its strings escaped, in lower-case and in upper-case hexadecimal.

    Slashes get a backslash, and what is beyond the first plane is two surrogates.
    """
    text = text.replace("/", r"\/") if "/" in lower else text
    text = text.replace(r"\"", r"\u0022") if '"' in upper else text
    for characters, digits in ((lower.replace("/", ""), "04x"), (upper.replace('"', ""), "04X")):
        if characters:
            text = re.sub(f"[{characters}]", partial(_escape, digits), text)
    return text


def _escape(digits: str, found: re.Match[str]) -> str:
    octets = found[0].encode("utf-16-be", "surrogatepass")
    units = (int.from_bytes(octets[at : at + 2], "big") for at in range(0, len(octets), 2))
    return "".join(f"\\u{unit:{digits}}" for unit in units)


_NON_ASCII: Final = r"\x80-\U0010ffff"
_SEPARATORS: Final = "\u2028\u2029"
_ESCAPES: Final = {
    "": ("", ""),
    ", with non-ASCII escaped": (_NON_ASCII, ""),
    ", with slashes escaped": ("/", ""),
    ", with slashes and non-ASCII escaped, as PHP does": (f"/{_NON_ASCII}", ""),
    ", with <, > and & escaped, as Go does": (f"<>&{_SEPARATORS}", ""),
    ", with <, >, &, = and ' escaped, as Gson does": (f"<>&='{_SEPARATORS}", ""),
    ", with U+2028 and U+2029 escaped": (_SEPARATORS, ""),
    ", with non-ASCII escaped in upper case": ("", _NON_ASCII),
    ", with HTML and non-ASCII escaped in upper case, as .NET does": ("", f"<>&'+`\"{_NON_ASCII}"),
    ", with <, >, &, slashes and non-ASCII escaped, as PHP does": (f"/{_NON_ASCII}", "<>&"),
}
"""How languages escape characters: those in lower-case hexadecimal, and those in upper-case."""

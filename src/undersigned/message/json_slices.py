"""Slices of JSON: where the values of a large document are, found without building any of them."""

from __future__ import annotations

import codecs
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from undersigned.limits import DEEPEST_JSON, MOST_DEEP_JSON
from undersigned.message.strict_json import loads

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANY: Final = re.compile(b"")
_CHUNK: Final = 65_536
_CLOSING: Final = {b"[": b"]", b"{": b"}"}
# CPython 3.11.0 to 3.11.4 match too much by a possessive group (gh-106052). There a greedy one needs more memory.
_MANY: Final = "*+" if sys.version_info >= (3, 11, 5) else "*"
_SPACE: Final = r"[ \t\n\r]*+"
_STRING: Final = rf'"(?>(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{{4}}){_MANY})"'
_SCALAR: Final = rf"(?:{_STRING}|-?(?:0|[1-9][0-9]*+)(?>(?:\.[0-9]++)?)(?>(?:[eE][+-]?[0-9]++)?)|true|false|null)"
_NAME: Final = f"{_STRING}{_SPACE}:{_SPACE}"


def whole(text: bytes) -> int:
    """Check a JSON text in UTF-8, except for repeated keys, and return where its value begins.

    Raises:
        ValueError: it is not one, or nested too deeply.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(text), _CHUNK):
        decoder.decode(text[start : start + _CHUNK], final=start + _CHUNK >= len(text))
    start = _end(_patterns().space, text, 0)
    if _end(_patterns().space, text, _skip(text, start)) != len(text):
        raise ValueError("the text is not JSON")
    return start


def values(text: bytes, at: int, *, hint: re.Pattern[bytes] = _ANY) -> Iterator[tuple[str, int, int]]:
    """Yield the values of an array or object of a checked text: the name or "", where it begins, and where it ends.

    Args:
        text: the JSON text.
        at: where the array or object begins. Of any other value, nothing is yielded.
        hint: what is looked for. Items of an array that do not have it are left out.
    """
    space, closing = _patterns().space, _CLOSING.get(text[at : at + 1])
    at = ran = _end(space, text, at + 1)
    while closing is not None and text[at : at + 1] != closing:
        name = ""
        if closing == b"}":
            after = _end(_patterns().name, text, at)
            quoted = text[at:after].rpartition(b":")[0].rstrip()
            # Reading a string that is spelled plainly would take the most of the time.
            name = cast("str", loads(quoted)) if b"\\" in quoted else quoted[1:-1].decode()
            at = after
        elif at >= ran:
            ran = _end(_patterns().run, text, at)
            at = at if hint.search(text, at, ran) else ran
        end = _skip(text, at)
        if closing == b"}" or hint.search(text, at, end):
            yield name, at, end
        at = _end(space, text, end)
        if text[at : at + 1] == b",":
            at = _end(space, text, at + 1)


def _skip(text: bytes, at: int) -> int:
    """Return where a value ends."""
    patterns, opened, brackets = _patterns(), list[bytes](), 0
    while True:
        shallow = patterns.value.match(text, at)
        if shallow is None:
            # It is nested deeper than the pattern is: go by its brackets.
            closing = _CLOSING.get(text[at : at + 1])
            brackets += 1
            if closing is None or len(opened) == DEEPEST_JSON or brackets > MOST_DEEP_JSON:
                raise ValueError("the text is not JSON, or nested too deeply")
            opened.append(closing)
            mark = b","
            at += 1
        else:
            at, mark = shallow.end(), b""
        while opened and mark != b",":
            at = _end(patterns.space, text, at) + 1
            mark = text[at - 1 : at]
            if mark != b"," and mark != opened.pop():
                raise ValueError("the text is not JSON")
        if not opened:
            return at
        # All that is shallow between here and the next bracket is passed over at once.
        at = _end(patterns.items if opened[-1] == b"]" else patterns.members, text, at)


class _Patterns(NamedTuple):
    """What is matched at a place."""

    space: re.Pattern[bytes]
    name: re.Pattern[bytes]  # of a member, with its colon
    value: re.Pattern[bytes]  # nested five deep at most
    run: re.Pattern[bytes]  # up to 256 such values of an array, each with its comma, and the space before the next one
    items: re.Pattern[bytes]  # as `run`, however many
    members: re.Pattern[bytes]  # such members of an object, and the next one's name


@cache
def _patterns() -> _Patterns:
    value = _SCALAR
    for _ in range(5):
        array, mapping = (
            rf"\{start}{_SPACE}(?>(?:(?!\{end}){name}{value}{_SPACE}(?:(?=\{end})|,{_SPACE}(?!\{end}))){_MANY})\{end}"
            for start, name, end in (("[", "", "]"), ("{", _NAME, "}"))
        )
        value = f"(?:{_SCALAR}|{array}|{mapping})"
    item, member = f"{value}{_SPACE},{_SPACE}", f"{_NAME}{value}{_SPACE},{_SPACE}"
    run, members = rf"(?>(?:{item}){{0,256}})", f"{_SPACE}(?>(?:{member}){_MANY}){_NAME}"
    parts = (_SPACE, _NAME, value, run, f"{_SPACE}(?>(?:{item}){_MANY})", members)
    return _Patterns(*(re.compile(part.encode("ascii")) for part in parts))


def _end(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:
        raise ValueError("the text is not JSON")
    return found.end()

"""Header fields as every reader takes them (RFC 9110 section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
"""Header fields: a mapping, or (name, value) pairs whose order and repetition are kept."""

_NAME = r":?[!#$%&'*+.^_`|~0-9a-z-]++"
_NAMES = re.compile(rf"{_NAME}(?>(?:\n{_NAME})*)")
_USUAL: frozenset[str] = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "authorization",
        "connection",
        "content-digest",
        "content-length",
        "content-type",
        "cookie",
        "host",
        "signature",
        "signature-input",
        "transfer-encoding",
        "user-agent",
    }
)


class HeaderFields:
    """Header fields as every reader takes them, read once: names in lower case, values without the space around them.

    Args:
        headers: a mapping, or (name, value) pairs; text stands for bytes as Latin-1.

    Attributes:
        lines: the (name, value) pairs in their order.
        by_name: the values of each name in their order.
        are_sound: whether every name is a token and no value holds CR, LF or NUL (RFC 9110 section 5.5).

    Raises:
        TypeError: `headers` is of another type.
    """

    __slots__ = ("are_sound", "by_name", "lines")

    def __init__(self, headers: Headers) -> None:
        pairs = cast("Iterable[tuple[str, str]]", headers.items() if isinstance(headers, Mapping) else headers)
        lines: list[tuple[str, str]] = []
        by_name: dict[str, list[str]] = {}
        try:
            for name, value in pairs:
                if not isinstance(name, str) or not isinstance(value, str):
                    raise TypeError("header names and values must be str")
                # Only ASCII has case here: the lower case of KELVIN SIGN is an ASCII letter, and another field's name.
                line = (name.lower() if name.isascii() else name, value.strip(" \t"))
                lines.append(line)
                if line[0] in by_name:
                    by_name[line[0]].append(line[1])
                else:
                    by_name[line[0]] = [line[1]]
        except ValueError:
            raise TypeError("headers must be a mapping or pairs of name and value") from None
        self.lines = tuple(lines)
        self.by_name = by_name
        values = "".join([value for _, value in lines])
        self.are_sound = not ("\r" in values or "\n" in values or "\0" in values) and (
            _USUAL.issuperset(by_name) or _are_tokens(by_name)
        )

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs."""
        return iter(self.lines)

    def has(self, name: str) -> bool:
        """Return whether there is a field `name` (lower case)."""
        return name in self.by_name

    def values(self, name: str) -> list[str]:
        """Return the values of the field `name` (lower case), a line each."""
        return self.by_name.get(name, [])


def _are_tokens(names: Collection[str]) -> bool:
    """Return whether every name is a token in lower case; all of them at one look."""
    joined = "\n".join(names)
    return joined.count("\n") == len(names) - 1 and _NAMES.fullmatch(joined) is not None

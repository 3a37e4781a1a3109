"""Headers of a message, read once (RFC 9110 section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Self, cast

from undersigned.limits import LONGEST_NAMES
from undersigned.message import tchar
from undersigned.message.structured_fields import MalformedField, OversizedField

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
"""Headers: a mapping, or (name, value) pairs whose order and repetition are kept."""

_NAMES = re.compile(rf"(?>(?::?{tchar.LOWER}++\n)*)")


class HeaderFields:
    """The headers of a message: names in lower case, values without the spaces and tabs around them.

    Iterating yields the (name, value) pairs in their order. The repr shows only their number.

    Args:
        headers: a mapping, or (name, value) pairs. Text is bytes decoded as Latin-1.

    Attributes:
        lines: the (name, value) pairs in their order, one for each field line.
        combined: the combined value of each field by its name in lower case (RFC 9421 section 2.1).
        repeated: the values of each field that has several lines, in their order.
        are_as_given: whether each field has one line, without white space around its value.
    """

    __slots__ = ("are_as_given", "combined", "lines", "repeated")

    def __init__(self, headers: Headers = ()) -> None:
        pairs = list(cast("Mapping[str, str]", headers).items() if hasattr(headers, "items") else headers)
        # Only ASCII changes case: the lower case of KELVIN SIGN is an ASCII letter, so another field's name.
        # `str.isascii` and `strip` reject bytes.
        lines = [(name.lower() if str.isascii(name) else name, value.strip(" \t")) for name, value in pairs]
        self.lines = tuple(lines)
        self.combined = combined = dict(lines)
        self.are_as_given = [value for _, value in pairs] == list(combined.values())
        self.repeated: Mapping[str, Sequence[str]] = _join(lines, combined) if len(combined) < len(lines) else {}

    @classmethod
    def of_octets(cls, headers: Iterable[tuple[bytes, bytes]]) -> Self:
        """Return the headers of (name, value) pairs of bytes, which are decoded as Latin-1."""
        return cls([(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers])

    @property
    def are_valid(self) -> bool:
        """Whether every name is a token, and no value has CR, LF or NUL.

        The rules are those of RFC 9110 section 5.5.
        """
        text = "".join(self.combined.values())
        # One match over all names takes a third of the time of one for each.
        names = "\n".join([*self.combined, ""])
        are_tokens = names.count("\n") == len(self.combined) and _NAMES.fullmatch(names) is not None
        return are_tokens and not ("\r" in text or "\n" in text or "\0" in text)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __eq__(self, other: object) -> bool:
        return self.lines == other.lines if isinstance(other, HeaderFields) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.lines)

    def __repr__(self) -> str:
        return f"<HeaderFields: {len(self.lines)} lines>"

    def values(self, name: str) -> Sequence[str]:
        """Return the value of each line of the field `name` (lower case), in their order."""
        if name not in self.combined:
            return ()
        return tuple(self.repeated.get(name) or (self.combined[name],))

    def as_signed(self, identifiers: Iterable[str], came: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the lines of headers with the covered ones as the signature base has them.

        A covered field comes in one line, unless `bs` covers its lines one by one. Neither it has white space at its
        ends. The other fields stay as they came.

        Args:
            identifiers: the identifiers of the covered components.
            came: the (name, value) pairs as the server or the client shows them.
        """
        covered, whole = set[str](), set[str]()
        for identifier in identifiers:
            # Outside of its strings, an identifier has its flags between semicolons.
            name, flags = identifier[1:].partition('"')[0], "".join(identifier.split('"')[2::2]).split(";")
            if "req" not in flags:
                covered.add(name)
                if "bs" not in flags:
                    whole.add(name)
        kept: list[tuple[str, str]] = []
        for name, value in came:
            key = name.lower()
            if key in whole:
                if all(known.lower() != key for known, _ in kept):
                    kept.append((name, self.combined[key]))
            else:
                kept.append((name, value.strip(" \t") if key in covered else value))
        return kept


def _join(lines: list[tuple[str, str]], combined: dict[str, str]) -> Mapping[str, Sequence[str]]:
    """Join, in `combined`, the values of each field that has several lines, and return these values."""
    values: dict[str, list[str]] = {}
    for name, value in lines:
        values.setdefault(name, []).append(value)
    repeated = {name: tuple(several) for name, several in values.items() if len(several) > 1}
    for name, several in repeated.items():
        combined[name] = ", ".join(several)
    return repeated


def check_fields(fields: HeaderFields, added: Iterable[str] = ()) -> None:
    """Check the names and values of all headers, before one of them is read.

    Args:
        fields: the headers.
        added: the names of fields that a signer adds to them.

    Raises:
        MalformedField: the names are too long together, one is not a token, or a value has CR, LF or NUL.
    """
    names = sum(map(len, fields.combined)) + sum(map(len, added))
    if names > LONGEST_NAMES:
        raise OversizedField(
            f"the names of the headers have {names:,} characters together, and at most {LONGEST_NAMES:,} are "
            "read: send fewer fields or shorter names"
        )
    if not fields.are_valid:
        raise MalformedField("a field name is not a token, or a field value has CR, LF or NUL")

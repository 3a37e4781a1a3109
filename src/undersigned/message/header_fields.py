"""Header fields of a message, read once (RFC 9110 section 5)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from undersigned.limits import LONGEST_NAMES, MOST_BLANKS
from undersigned.message import token

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
"""Header fields: a mapping, or (name, value) pairs whose order and repetition are kept."""

_NAME = rf":?{token.LOWER}++"
_NAMES = re.compile(rf"{_NAME}(?>(?:\n{_NAME})*)")

USUAL_NAMES: frozenset[str] = frozenset(
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
        "date",
        "forwarded",
        "host",
        "idempotency-key",
        "origin",
        "referer",
        "signature",
        "signature-agent",
        "signature-input",
        "traceparent",
        "tracestate",
        "transfer-encoding",
        "user-agent",
        "via",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-real-ip",
        "x-request-id",
    }
)
"""Names that most requests have. They are known to be tokens, and none has an underscore."""

# Looking a name up takes a third of the time of decoding it and changing its case.
_LOWER: Mapping[str, str] = {spelled: name for name in USUAL_NAMES for spelled in (name, name.title())}
_DECODED: Mapping[bytes, str] = {name.encode("ascii"): name for name in USUAL_NAMES}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HeaderFields:
    """The header fields of a message: names in lower case, values without the spaces and tabs around them.

    Iterating yields the (name, value) pairs in their order. The repr shows only their number.

    Args:
        headers: a mapping, or (name, value) pairs. Text is bytes decoded as Latin-1.

    Attributes:
        lines: the (name, value) pairs in their order, one for each field line.
        combined: the combined value of each field by its name in lower case (RFC 9421 section 2.1).
        repeated: the values of each field that has several lines, in their order.
        are_usual: whether every name is one of `USUAL_NAMES`.

    Raises:
        TypeError: `headers` has another type; a mistake of the caller, never of a message.
    """

    lines: tuple[tuple[str, str], ...]
    combined: Mapping[str, str] = dataclasses.field(compare=False)
    repeated: Mapping[str, Sequence[str]] = dataclasses.field(compare=False)
    are_usual: bool = dataclasses.field(compare=False)
    _valid: bool | None = dataclasses.field(compare=False)

    def __init__(self, headers: Headers = ()) -> None:
        pairs = cast("Iterable[tuple[str, str]]", headers.items() if isinstance(headers, Mapping) else headers)
        try:
            # `strip` returns a value without white space around it as it is. Nearly every value is such a value.
            made = _make(
                [
                    (_LOWER.get(name) or _lower(name), value if value.strip() is value else _trim(value))
                    for name, value in pairs
                ]
            )
            # Joining fails for a name or value in bytes.
            valid = _are_valid(made)
        except (AttributeError, TypeError, ValueError):
            raise TypeError("headers must be a mapping or pairs of name and value, which must be str") from None
        for attribute in HeaderFields.__slots__:
            object.__setattr__(self, attribute, getattr(made, attribute))
        object.__setattr__(self, "_valid", valid)

    @staticmethod
    def of_octets(headers: Iterable[tuple[bytes, bytes]]) -> HeaderFields:
        """Return the header fields of (name, value) pairs of bytes, which are decoded as Latin-1."""
        lines: list[tuple[str, str]] = []
        for name, octets in headers:
            value = octets.decode("latin-1")
            lines.append(
                (
                    _DECODED.get(name) or _lower(name.decode("latin-1")),
                    value if value.strip() is value else _trim(value),
                )
            )
        return _make(lines)

    @staticmethod
    def of_lower(lines: Iterable[tuple[str, str]]) -> HeaderFields:
        """Return the header fields of (name, value) pairs of text, if the names are in lower case already."""
        return _make([(name, value if value.strip() is value else _trim(value)) for name, value in lines])

    @property
    def are_valid(self) -> bool:
        """Whether every name is a token, the names are not too long together, and no value has CR, LF or NUL.

        The rules are those of RFC 9110 section 5.5. For fields of a server, they are applied when this is first read,
        so not for a request without a signature.
        """
        valid = self._valid
        if valid is None:
            valid = _are_valid(self)
            object.__setattr__(self, "_valid", valid)
        return valid

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the (name, value) pairs in their order."""
        return iter(self.lines)

    def __len__(self) -> int:
        """Return the number of field lines."""
        return len(self.lines)

    def __repr__(self) -> str:
        """Return the number of field lines; values may hold secrets."""
        return f"<HeaderFields: {len(self.lines)} lines>"

    def values(self, name: str) -> Sequence[str]:
        """Return the value of each line of the field `name` (lower case), in their order."""
        if name not in self.combined:
            return ()
        return tuple(self.repeated.get(name) or (self.combined[name],))


class _Unfrozen:
    """A `HeaderFields` while it is made."""

    __slots__ = HeaderFields.__slots__


def _make(lines: list[tuple[str, str]]) -> HeaderFields:
    """Make the header fields of lines with names in lower case and values trimmed."""
    fields: Any = _Unfrozen()
    fields.lines = tuple(lines)
    fields.combined = combined = dict(lines)
    fields.repeated = _join(lines, combined) if len(combined) < len(lines) else {}
    fields.are_usual = USUAL_NAMES.issuperset(combined)
    # A frozen class sets each attribute through `object.__setattr__`, which takes several times as long.
    fields.__class__ = HeaderFields
    made: HeaderFields = fields
    object.__setattr__(made, "_valid", None)
    return made


def _are_valid(fields: HeaderFields) -> bool:
    """Return what `HeaderFields.are_valid` is."""
    combined, usual = fields.combined, fields.are_usual
    text = "".join(combined.values() if usual else [*combined, *combined.values()])
    return not ("\r" in text or "\n" in text or "\0" in text) and (usual or _are_tokens(combined))


def _lower(name: str) -> str:
    """Return a field name in lower case."""
    # Only ASCII changes case: the lower case of KELVIN SIGN is an ASCII letter, so another field's name.
    return name.lower() if name.isascii() else name


def _trim(value: str) -> str:
    """Return a field value without the spaces and tabs around it (RFC 9110 section 5.5).

    If there are more than `MOST_BLANKS` of them, all stay. `str.strip` takes twenty times as long for two characters as
    for all white space, so it is called with two for few values only.
    """
    blanks = len(value) - len(value.strip())
    return value if blanks == 0 or blanks > MOST_BLANKS else value.strip(" \t")


def _join(lines: list[tuple[str, str]], combined: dict[str, str]) -> Mapping[str, Sequence[str]]:
    """Join, in `combined`, the values of each field that has several lines, and return these values."""
    values: dict[str, list[str]] = {}
    for name, value in lines:
        values.setdefault(name, []).append(value)
    repeated = {name: tuple(several) for name, several in values.items() if len(several) > 1}
    for name, several in repeated.items():
        combined[name] = ", ".join(several)
    return repeated


def _are_tokens(names: Collection[str]) -> bool:
    """Return whether every name is a token in lower case, by one match over all of them, and they are not too long."""
    joined = "\n".join(names)
    if len(joined) > LONGEST_NAMES:
        return False
    return joined.count("\n") == len(names) - 1 and _NAMES.fullmatch(joined) is not None

"""Variants of covered header fields: joined in another way, values added on the way, other parameters or case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.explanation.variant import Alternative, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from undersigned.explanation.values import SignedValues

_MOST_MEMBERS: Final = 16
_LONGEST: Final = 4096
_BLANKS: Final = re.compile(r"[ \t]+")
_CHARSETS: Final = ("; charset=utf-8", ";charset=utf-8", "; charset=UTF-8", ";charset=UTF-8")


def _of_fields(
    signed: Callable[[str, tuple[str, ...]], Iterable[str]], *, only: str = ""
) -> Callable[[SignedValues], Iterator[Alternative]]:
    """Return the alternatives of a variant of each covered field, or of the field `only`.

    `signed` takes the combined value and the lines of a field and yields the values that the sender may have signed.
    """

    def alternatives(values: SignedValues) -> Iterator[Alternative]:
        for name in sorted(values.covered):
            value = values.fields.combined.get(name)
            if value is None or name == "content-digest" or only not in {"", name}:
                continue
            if len(value) <= _LONGEST:
                for other in signed(value, tuple(values.fields.values(name))):
                    yield Alternative(values.with_field(name, other), f"{name}: {other}", f"{name}: {value}")

    return alternatives


def _split(value: str, separator: str) -> list[str]:
    return [one.strip(" \t") for one in value.split(separator)]


def _before_joining(value: str, lines: tuple[str, ...]) -> Iterator[str]:
    members = _split(value, ",")
    for separator in (",", ", ", " , ", ";", "; ", " ", ""):
        yield separator.join(lines)
    for separator in (",", ", ", " , "):
        yield separator.join(members)
    yield _BLANKS.sub(" ", value)
    for separator in (";", "; ", " ; "):
        yield separator.join(_split(value, ";"))
    yield ", ".join(reversed(lines))


def _before_adding(value: str, lines: tuple[str, ...]) -> Iterator[str]:
    for several, separator in ((lines, ", "), (_split(value, ","), ", ")):
        if len(several) > 1:
            yield several[0]
            yield several[-1]
            for at in range(min(len(several), _MOST_MEMBERS)):
                yield separator.join([*several[:at], *several[at + 1 :]])


def _before_changing_parameters(value: str, _lines: tuple[str, ...]) -> Iterator[str]:
    kind = _split(value, ";")[0]
    yield kind
    for charset in _CHARSETS:
        yield f"{kind}{charset}"


def _before_changing_case(value: str, _lines: tuple[str, ...]) -> Iterator[str]:
    yield value.lower()
    yield value.upper()
    yield value.title()


FIELD_VARIANTS: Final = (
    Variant(
        "other header joining", "field",
        "a proxy or library joined the lines of the field, or changed its spaces: forward the field unchanged "
        "(RFC 9421 section 2.1)", _of_fields(_before_joining),
    ),
    Variant(
        "other Content-Type", "field",
        "a client added a charset after signing, or a proxy changed the parameters: sign the field as it is sent",
        _of_fields(_before_changing_parameters, only="content-type"),
    ),
    Variant(
        "added value", "field", "a proxy added a value to a covered field: all values of a field are signed together",
        _of_fields(_before_adding),
    ),
    Variant(
        "other case", "field", "something changed the case of the value: forward the field unchanged",
        _of_fields(_before_changing_case),
    ),
)  # fmt: skip
"""The variants of covered header fields, the most likely first."""

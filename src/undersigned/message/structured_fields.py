"""Structured fields: the few shapes signatures use, on http-sf, with the profiles' stricter Base64.

http-sf reads RFC 9651: it lets padding be absent and keeps the last of two equal keys. A signature needs one reading
only, so duplicate keys are refused and a byte sequence must be spelled exactly as the profile says.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast

import http_sf
from http_sf.compat import Item

from undersigned.errors import UndersignedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Encoding = Literal["base64", "base64url"]
"""`base64`: RFC 8941 section 3.3.5, padded. `base64url`: RFC 4648 section 5, unpadded (AdCP 3.1)."""

Parameter: TypeAlias = bool | int | float | str | bytes | Decimal | datetime | http_sf.Token | http_sf.DisplayString

# What may hold a colon, so that a byte sequence is found where a parser finds one: a display string (RFC 9651: without
# escapes), a string, a token or key, a byte sequence. Unclosed quotes run to the end: time stays linear.
_LEXEME = re.compile(
    r"""%"[^"]*+"?+|"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"?+|[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]*+|:([^:"]*+):"""
)
# The bits behind the last byte are zero: one spelling for one value.
_SPELLING: Mapping[Encoding, re.Pattern[str]] = {
    "base64": re.compile(r"(?>(?:[A-Za-z0-9+/]{4})*)(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"),
    "base64url": re.compile(r"(?>(?:[A-Za-z0-9_-]{4})*)(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?"),
}
_TO_BASE64 = str.maketrans("-_", "+/")
_TO_BASE64URL = bytes.maketrans(b"+/", b"-_")


KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")
"""A dictionary key, such as a signature's label (RFC 8941 section 3.1.2)."""

_ONE_VALUE = re.compile(r'(?>(?:[^",]|"(?>(?:[^"\\]|\\.)*)")*)', re.DOTALL)


class MalformedField(UndersignedError, ValueError):
    """A field value that is not what its definition says. The message is made of our words only."""


@dataclass(frozen=True, slots=True)
class Component:
    """One covered component identifier (RFC 9421 section 1.1).

    Attributes:
        name: the component name, lower case, without quotes.
        text: the identifier as it stands in the base: quoted name and parameters.
        bare: whether it has no parameters.
    """

    name: str
    text: str
    bare: bool

    def item(self) -> Item:
        """Return the identifier as the structured field item that http-message-signatures resolves."""
        item = Item()
        item.parse(self.text.encode("ascii"))
        return item


class Coverage(NamedTuple):
    """What a signature covers, and what is asked of it.

    Like the stages it is a named tuple: a frozen dataclass takes twice as long to make.

    Attributes:
        components: the covered components in their order.
        names: their names, whatever their parameters say of how they are covered.
        bare: the names of those without parameters.
        texts: their identifiers in their order.
    """

    components: tuple[Component, ...]
    names: frozenset[str]
    bare: frozenset[str]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, components: Iterable[Component]) -> Coverage:
        """Return the coverage of `components`."""
        covered = tuple(components)
        return cls(
            covered,
            frozenset([component.name for component in covered]),
            frozenset([component.name for component in covered if component.bare]),
            tuple([component.text for component in covered]),
        )


class SignatureInput(NamedTuple):
    """One member of Signature-Input (RFC 9421 section 4.1).

    Attributes:
        coverage: the covered components.
        parameters: the signature parameters by name.
        text: the value of `@signature-params`, as it stands in the base.
    """

    coverage: Coverage
    parameters: Mapping[str, Parameter]
    text: str

    @property
    def components(self) -> tuple[Component, ...]:
        """The covered components in their order."""
        return self.coverage.components


def parse_signature_input(value: str) -> dict[str, SignatureInput]:
    """Read a Signature-Input field value (all lines joined with a comma).

    Raises:
        MalformedField: not a dictionary of inner lists of strings, or a repeated label, parameter or component.
    """
    members = _parse_dictionary(value)
    return {label: _signature_input(member) for label, member in members.items()}


def parse_byte_sequences(value: str, *encodings: Encoding) -> dict[str, bytes]:
    """Read a Signature or Content-Digest field value: a dictionary of byte sequences, each in one of `encodings`.

    Raises:
        MalformedField: not such a dictionary, a repeated or upper-case key, or a byte sequence spelled otherwise.
    """
    sequences: dict[str, bytes] = {}
    for key, (member, _) in _parse_dictionary(_to_padded(value, encodings)).items():
        if not isinstance(member, bytes):
            raise MalformedField("a member is not a byte sequence")
        sequences[key] = member
    return sequences


def is_list(value: str, *, longest: int | None = None) -> bool:
    """Return whether a comma outside of quotes parts `value` (RFC 9110 section 5.6), or its quotes do not close.

    One that holds commas or quotes and more than `longest` characters is taken for a list unread.
    """
    if "," not in value and '"' not in value:
        return False
    return (longest is not None and len(value) > longest) or _ONE_VALUE.fullmatch(value) is None


def serialize_byte_sequence(value: bytes, encoding: Encoding) -> str:
    """Return `value` as a byte sequence in `encoding`, colons included."""
    spelled = b2a_base64(value, newline=False)
    if encoding == "base64url":
        spelled = spelled.translate(_TO_BASE64URL, b"=")
    return f":{spelled.decode('ascii')}:"


def serialize_signature_input(components: tuple[str, ...], parameters: Mapping[str, Parameter]) -> str:
    """Return the `@signature-params` value of bare `components` and `parameters` (RFC 9421 section 2.3)."""
    return _serialize_inner_list([(name, {}) for name in components], parameters)


def _parse_dictionary(value: str) -> dict[str, tuple[object, Mapping[str, Parameter]]]:
    try:
        parsed = http_sf.parse(value.encode("ascii"), tltype="dictionary", on_duplicate_key=_refuse_duplicate)
    except UnicodeEncodeError:
        raise MalformedField("the field value is not ASCII") from None
    except http_sf.StructuredFieldError:
        raise MalformedField("the field value is not a structured field dictionary") from None
    if not parsed:
        raise MalformedField("the field value is empty")
    return cast("dict[str, tuple[object, Mapping[str, Parameter]]]", parsed)


def _refuse_duplicate(_key: str, context: str) -> None:
    raise MalformedField(f"a {'label or key' if context == 'dictionary' else 'parameter'} is repeated")


def _signature_input(member: tuple[object, Mapping[str, Parameter]]) -> SignatureInput:
    value, parameters = member
    if not isinstance(value, list):
        raise MalformedField("a member of Signature-Input is not an inner list")
    items = cast("list[tuple[Parameter, dict[str, Parameter]]]", value)
    seen: set[tuple[str, frozenset[tuple[str, Parameter]]]] = set()
    components: list[Component] = []
    for name, qualifiers in items:
        if not isinstance(name, str) or name != name.lower():
            raise MalformedField("a covered component is not a lower-case string")
        identity = (name, frozenset(qualifiers.items()))
        if identity in seen or name == "@signature-params":
            raise MalformedField("a covered component is repeated, or is @signature-params itself")
        seen.add(identity)
        components.append(Component(name, http_sf.ser((name, qualifiers)), not qualifiers))
    return SignatureInput(Coverage.of(components), parameters, _serialize_inner_list(items, parameters))


def _serialize_inner_list(
    items: Sequence[tuple[Parameter, dict[str, Parameter]]], parameters: Mapping[str, Parameter]
) -> str:
    # A list of one inner list is spelled as the inner list alone (RFC 8941 section 4.1.1).
    return http_sf.ser([cast("http_sf.InnerListType", (list(items), dict(parameters)))])


def _to_padded(value: str, encodings: tuple[Encoding, ...]) -> str:
    """Hold every byte sequence to one of `encodings` and return the value as RFC 8941 spells it."""

    def padded(match: re.Match[str]) -> str:
        text: str | None = match[1]
        if text is None:
            return match[0]
        # What is spelled alike in both stands for the same bytes in both, so which one matches decides nothing.
        if not any(_SPELLING[encoding].fullmatch(text) for encoding in encodings):
            raise MalformedField("a byte sequence is not in the profile's Base64: alphabet, padding or stray bits")
        return f":{text.translate(_TO_BASE64)}{'=' * (-len(text) % 4)}:"

    return _LEXEME.sub(padded, value)

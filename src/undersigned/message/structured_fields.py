"""Structured fields as signatures use them, on http-sf, with one reading for each value (RFC 9651).

http-sf lets padding be absent and keeps the last of two equal keys. A signature must have one reading only, so repeated
keys are rejected and a byte sequence must be spelled exactly as the profile says.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import http_sf

from undersigned.errors import UndersignedError
from undersigned.limits import LONGEST_FIELD, MOST_DELIMITERS, MOST_SIGNATURES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned.message.field_types import FieldType

Encoding = Literal["base64", "base64url"]
"""`base64`: RFC 8941 section 3.3.5, padded. `base64url`: RFC 4648 section 5, unpadded (AdCP 3.1)."""

Parameter: TypeAlias = bool | int | float | str | bytes | Decimal | datetime | http_sf.Token | http_sf.DisplayString
"""The value of a parameter: a bare item (RFC 9651 section 3.3)."""

Parameters: TypeAlias = Mapping[str, Parameter]
"""Parameters by key."""

_DELIMITERS = ",;:\\%"

KEY = re.compile(r"[a-z*][a-z0-9_.*-]*+")
"""A dictionary key, such as a signature's label (RFC 8941 section 3.1.2)."""

# A member that is a byte sequence, with its parameters, which mean nothing here. Other characters than Base64 are found
# too, so that the error says what is wrong. Every repetition is atomic or possessive: time is linear.
_STRING = r'"(?>(?:[ !#-\[\]-~]|\\["\\])*)"'
_BARE_ITEM = (
    rf"""(?>-?[0-9]++(?>(?:\.[0-9]++)?)|{_STRING}|[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]*+|:[A-Za-z0-9+/=_-]*+:"""
    r"""|\?[01]|@-?[0-9]++|%"[ !#-~]*+")"""
)
_BYTE_SEQUENCE = re.compile(
    rf"({KEY.pattern})=:([^:,\";]*+):(?>(?:; *+{KEY.pattern}(?>(?:={_BARE_ITEM})?))*)(?:[ \t]*+,[ \t]*+(?!\Z)|\Z)"
)
_ONE_VALUE = re.compile(r'[^",]*+(?>(?:"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"[^",]*+)*)', re.DOTALL)
_TO_BASE64URL = bytes.maketrans(b"+/", b"-_")


class MalformedField(UndersignedError, ValueError):
    """Raised when a value does not have the syntax of its field. The message has no text of the sender."""


class OversizedField(MalformedField):
    """Raised when a field is larger than one of our bounds (`undersigned.limits`), whatever its syntax is."""


def count_delimiters(value: str) -> int:
    """Return how many delimiters a field value has, counting each run of blanks as one."""
    return len(value.split()) + sum(map(value.count, _DELIMITERS))


def check_size(value: str) -> None:
    """Check that a field value is small enough for a parser, which looks at one character after another.

    Raises:
        OversizedField: it has more than `LONGEST_FIELD` characters or `MOST_DELIMITERS` delimiters.
    """
    _check_length(value)
    delimiters = count_delimiters(value)
    if delimiters > MOST_DELIMITERS:
        raise OversizedField(
            f"a field that must be parsed has {delimiters:,} delimiters, and at most {MOST_DELIMITERS} are read: send "
            "fewer members, parameters or covered components, one space apart"
        )


def _check_length(value: str) -> None:
    if len(value) > LONGEST_FIELD:
        raise OversizedField(
            f"a field that must be parsed has {len(value):,} characters, and at most {LONGEST_FIELD:,} are read: send "
            "fewer or shorter members"
        )


def parse_byte_sequences(value: str, *encodings: Encoding) -> dict[str, bytes]:
    """Read a Signature or Content-Digest field value: a dictionary of byte sequences, each in one of `encodings`.

    Raises:
        MalformedField: not such a dictionary, too large, a repeated or upper-case key, or a byte sequence in another
            spelling.
    """
    _check_length(value)
    members: dict[str, bytes] = {}
    at = 0
    while match := _BYTE_SEQUENCE.match(value, at):
        key, text = match.groups()
        if key in members:
            raise MalformedField("a label or key is repeated")
        members[key] = _decode(text, encodings)
        if len(members) > MOST_SIGNATURES:
            raise OversizedField(
                f"a field has more than {MOST_SIGNATURES} signatures or digests: send at most {MOST_SIGNATURES}"
            )
        at = match.end()
        if at == len(value):
            return members
    raise MalformedField("the field value is not a dictionary of byte sequences, such as label=:AAAA:")


def parse_field(value: str, kind: FieldType, *, repeated_keys: bool = False) -> object:
    """Read a structured field as http-sf returns it (RFC 9651 section 4.2). The caller checks the size first.

    Args:
        value: the field value.
        kind: its type.
        repeated_keys: whether the last one counts if a key or a parameter is repeated, see `Reading`.

    Raises:
        MalformedField: not a field of this type, an empty one, or one with a repeated key or parameter.
    """
    try:
        parsed: object = http_sf.parse(
            value.encode("ascii"), tltype=kind, on_duplicate_key=None if repeated_keys else _reject_repeated
        )
    except UnicodeEncodeError:
        raise MalformedField("the field value is not ASCII") from None
    except http_sf.StructuredFieldError:
        raise MalformedField(f"the field value is not a structured field {kind}") from None
    if not parsed:
        raise MalformedField("the field value is empty")
    return parsed


def parse_dictionary(value: str, *, repeated_keys: bool = False) -> dict[str, tuple[object, Parameters]]:
    """Read a dictionary: each key's value and parameters (RFC 9651 section 4.2.2), as `parse_field` does."""
    parsed = parse_field(value, "dictionary", repeated_keys=repeated_keys)
    return cast("dict[str, tuple[object, Parameters]]", parsed)


def is_list(value: str) -> bool:
    """Return whether `value` has a comma outside quotes (RFC 9110 section 5.6), or a quote that is not closed."""
    # Nearly every value has neither of these characters.
    return ("," in value or '"' in value) and _ONE_VALUE.fullmatch(value) is None


def serialize_byte_sequence(value: bytes, encoding: Encoding) -> str:
    """Return `value` as a byte sequence in `encoding`, colons included."""
    if encoding == "base64url":
        return f":{base64url(value)}:"
    return f":{b2a_base64(value, newline=False).decode('ascii')}:"


def base64url(value: bytes) -> str:
    """Return `value` in unpadded Base64url (RFC 4648 section 5)."""
    return b2a_base64(value, newline=False).translate(_TO_BASE64URL, b"=").decode("ascii")


def serialize_member(value: object, parameters: Parameters) -> str:
    """Return an item, or an inner list, with its parameters (RFC 9651 sections 4.1.1.1 and 4.1.3)."""
    member = value, dict(parameters)
    # A list of one inner list is spelled as the inner list alone (RFC 9651 section 4.1.1).
    return http_sf.ser(cast("http_sf.StructuredType", [member] if isinstance(value, list) else member))


def _decode(text: str, encodings: Iterable[Encoding]) -> bytes:
    """Return the bytes whose only spelling in one of `encodings` is `text`."""
    for encoding in encodings:
        padded = text
        if encoding == "base64url":
            padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
        try:
            decoded = a2b_base64(padded)
        except ValueError:
            continue
        # The library accepts other spellings too: with further characters or padding, or unused bits.
        if serialize_byte_sequence(decoded, encoding) == f":{text}:":
            return decoded
    raise MalformedField("a byte sequence is not in the profile's Base64: check alphabet, padding and unused bits")


def _reject_repeated(_key: str, context: str) -> None:
    """Reject a repeated key or parameter, as http-sf reports it."""
    raise MalformedField(f"a {'label or key' if context == 'dictionary' else 'parameter'} is repeated")

"""Structured fields as signatures use them, on http-sf, with one reading for each value (RFC 9651).

http-sf lets padding be absent and keeps the last of two equal keys. A signature must have one reading only, so repeated
keys are rejected and a byte sequence must be spelled exactly as the profile says.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import http_sf

from undersigned.errors import UndersignedError
from undersigned.limits import DELIMITERS_PER_DECIMAL, LONGEST_FIELD, MOST_DELIMITERS, MOST_SIGNATURES
from undersigned.message.dictionaries import BareItem, read_dictionary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Encoding = Literal["base64", "base64url"]
"""`base64`: RFC 8941 section 3.3.5, padded. `base64url`: RFC 4648 section 5, unpadded (AdCP 3.1)."""

Parameter: TypeAlias = BareItem
"""The value of a parameter."""

_DELIMITERS = ",;: \t\\%"
_EFFORT_OF_FIELD, _EFFORT_OF_DELIMITER, _EFFORT_OF_MEMBER, _EFFORT_OF_DATE = 45, 2, 3, 2
_DECIMAL = re.compile(r"(?<![^=,( \t])-?[0-9]+\.")

KEY = re.compile(r"[a-z*][a-z0-9_.*-]*+")
"""A dictionary key, such as a signature's label (RFC 8941 section 3.1.2)."""

# What is in front of a byte sequence, and its text. A colon may be in a display string too (RFC 9651: without escapes),
# a string, a token or key. So a byte sequence is found exactly where a parser finds it. One match passes all tokens to
# the last character that is in none, as a field has room for a thousand. Open quotes run to the end: time is linear.
_OF_TOKENS = r"A-Za-z0-9:/!#$%&'*+.^_`|~-"
_TO_SEQUENCE = re.compile(
    rf"""((?>(?:[^:"%]*[^"{_OF_TOKENS}]|%"[^"]*+"?+|%|"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"?+"""
    rf"""|[A-Za-z*][{_OF_TOKENS}]*+|[^%":A-Za-z*]++|:(?![^:"]*+:))*))(?>(?::([^:"]*+):)?)"""
)
_ONE_VALUE = re.compile(r'[^",]*+(?>(?:"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"[^",]*+)*)', re.DOTALL)
# The characters that a Base64 text may end in, by how many bytes its last group has: the other bits are unused.
_LAST = ("", "AQgw", "AEIMQUYcgkosw048")
# Nearly every value is 64 bytes (Ed25519, ES256) or 32 (SHA-256), each in its only valid spelling.
_CHARACTER = "[A-Za-z0-9+/]"
_USUAL_MEMBER = re.compile(rf"(sig1|sha-256)=:({_CHARACTER}{{85}}[{_LAST[1]}]==|{_CHARACTER}{{42}}[{_LAST[2]}]=):")
_TO_BASE64URL = bytes.maketrans(b"+/", b"-_")


class MalformedField(UndersignedError, ValueError):
    """Raised when a value does not have the syntax of its field. The message has no text of the sender."""


class ParserBudget:
    """A budget for parsing the signature fields and the digest of one message.

    A value that a pattern reads costs nothing.
    """

    # Attributes of the class, so that making a budget costs nothing: hardly any message spends any of it.
    _left: int = MOST_DELIMITERS
    spent: int = 0
    """The effort of what the parser has read (`undersigned.signature.effort`)."""

    def spend(self, value: str) -> None:
        """Take what reading `value` costs.

        Raises:
            MalformedField: too little is left.
        """
        if len(value) <= LONGEST_FIELD:
            delimiters = count_delimiters(value, _DELIMITERS)
            self._left -= delimiters
            # To look at a blank takes next to nothing.
            seen = delimiters - value.count(" ") - value.count("\t")
            self.spent += _EFFORT_OF_FIELD + _EFFORT_OF_DELIMITER * seen
            self.spent += _EFFORT_OF_MEMBER * value.count(",") + _EFFORT_OF_DATE * value.count("=@")
            # In a valid value, a delimiter is in front of each string but the first, and of each quote in a string.
            if self._left >= 0 and value.count('"') <= 2 * delimiters + 2:
                return
        raise MalformedField(
            f"the signature fields and the digest have more than {LONGEST_FIELD} characters or {MOST_DELIMITERS} "
            "delimiters where only a parser can read them"
        )


def count_delimiters(value: str, delimiters: str) -> int:
    """Return how many delimiters a field value has. Each number with a fraction counts as several."""
    count = sum(map(value.count, delimiters))
    return count + DELIMITERS_PER_DECIMAL * len(_DECIMAL.findall(value)) if "." in value else count


def parse_byte_sequences(
    value: str, *encodings: Encoding, budget: ParserBudget | None = None, repeated_keys: bool = False
) -> dict[str, bytes]:
    """Read a Signature or Content-Digest field value: a dictionary of byte sequences, each in one of `encodings`.

    Args:
        value: the field value.
        encodings: the accepted encodings.
        budget: how much the parser may read of the message.
        repeated_keys: whether the last one counts if a key is repeated, see `Reading`.

    Raises:
        MalformedField: not such a dictionary, too large, a repeated or upper-case key, or a byte sequence in another
            spelling.
    """
    match = _USUAL_MEMBER.fullmatch(value)
    if match is not None and "base64" in encodings:
        key, text = match.groups()
        return {key: a2b_base64(text)}
    members = _read_by_pattern(value, encodings)
    if members is not None:
        return members
    (budget or ParserBudget()).spend(value)
    sequences: dict[str, bytes] = {}
    for key, (sequence, _) in parse_dictionary(_pad_sequences(value, encodings), repeated_keys=repeated_keys).items():
        if not isinstance(sequence, bytes):
            raise MalformedField("a member is not a byte sequence")
        sequences[key] = sequence
    return sequences


def parse_dictionary(value: str, *, repeated_keys: bool = False) -> dict[str, tuple[object, Mapping[str, Parameter]]]:
    """Read a dictionary: each key's value and parameters (RFC 9651 section 4.2.2). The caller checks the size first.

    Args:
        value: the field value.
        repeated_keys: whether the last one counts if a key or a parameter is repeated, see `Reading`.

    Raises:
        MalformedField: not a dictionary, an empty one, or one with a repeated key or parameter.
    """
    read = read_dictionary(value)
    if read is not None:
        return read
    on_repeated = None if repeated_keys else _reject_duplicate
    try:
        parsed = http_sf.parse(value.encode("ascii"), tltype="dictionary", on_duplicate_key=on_repeated)
    except UnicodeEncodeError:
        raise MalformedField("the field value is not ASCII") from None
    except http_sf.StructuredFieldError:
        raise MalformedField("the field value is not a structured field dictionary") from None
    if not parsed:
        raise MalformedField("the field value is empty")
    return cast("dict[str, tuple[object, Mapping[str, Parameter]]]", parsed)


def is_list(value: str) -> bool:
    """Return whether `value` has a comma outside quotes (RFC 9110 section 5.6), or a quote that is not closed.

    A value longer than `LONGEST_FIELD` is not read, and counts as a list.
    """
    return len(value) > LONGEST_FIELD or _ONE_VALUE.fullmatch(value) is None


def serialize_byte_sequence(value: bytes, encoding: Encoding) -> str:
    """Return `value` as a byte sequence in `encoding`, colons included."""
    if encoding == "base64url":
        return f":{base64url(value)}:"
    return f":{b2a_base64(value, newline=False).decode('ascii')}:"


def base64url(value: bytes) -> str:
    """Return `value` in unpadded Base64url (RFC 4648 section 5)."""
    return b2a_base64(value, newline=False).translate(_TO_BASE64URL, b"=").decode("ascii")


def serialize_inner_list(
    items: Sequence[tuple[Parameter, dict[str, Parameter]]], parameters: Mapping[str, Parameter]
) -> str:
    """Return an inner list of `items` with `parameters` (RFC 9651 section 4.1.1.1)."""
    # A list of one inner list is spelled as the inner list alone (RFC 9651 section 4.1.1).
    return http_sf.ser([cast("http_sf.InnerListType", (list(items), dict(parameters)))])


def _read_by_pattern(value: str, encodings: Sequence[Encoding]) -> dict[str, bytes] | None:
    """Return the members of a value in the usual spelling, or None if the parser must read the value."""
    if len(value) > LONGEST_FIELD:
        return None
    members: dict[str, bytes] = {}
    for member in value.split(", ", MOST_SIGNATURES):
        key, _, text = member.partition("=:")
        if text[-1:] != ":" or KEY.fullmatch(key) is None or key in members:
            return None
        for encoding in encodings:
            decoded = _decode(text[:-1], encoding)
            if decoded is not None:
                members[key] = decoded
                break
        else:
            return None
    return members


def _decode(text: str, encoding: Encoding) -> bytes | None:
    """Return the bytes whose only spelling in `encoding` is `text`, or None if there are none."""
    if encoding == "base64url":
        if "+" in text or "/" in text or "=" in text:
            return None
        text = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    try:
        decoded = a2b_base64(text, strict_mode=True)
    except ValueError:
        return None
    # The library also accepts padding after a whole group, and unused bits that are not zero: second spellings.
    groups, last = divmod(len(decoded), 3)
    if last == 0:
        return decoded if len(text) == 4 * groups else None
    return decoded if len(text) == 4 * groups + 4 and text[last - 4] in _LAST[last] else None


def _pad_sequences(value: str, encodings: Sequence[Encoding]) -> str:
    """Return the value with its byte sequences padded as in RFC 9651. Each must be in one of `encodings`."""

    def pad(match: re.Match[str]) -> str:
        before: str = match[1]
        text: str | None = match[2]
        if text is None:
            return before
        for encoding in encodings:
            decoded = _decode(text, encoding)
            if decoded is not None:
                return before + serialize_byte_sequence(decoded, "base64")
        raise MalformedField("a byte sequence is not in the profile's Base64: check alphabet, padding and unused bits")

    return _TO_SEQUENCE.sub(pad, value)


def _reject_duplicate(_key: str, context: str) -> None:
    raise MalformedField(f"a {'label or key' if context == 'dictionary' else 'parameter'} is repeated")

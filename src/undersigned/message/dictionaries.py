"""Dictionaries of structured fields, read by patterns (RFC 9651 section 4.2.2).

http-sf looks at one character after another, which takes twice as long. It reads every text that the patterns do not
match: one with a fault or a repeated key.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias, cast
from urllib.parse import unquote_to_bytes

import http_sf

if TYPE_CHECKING:
    from collections.abc import Sequence

BareItem: TypeAlias = bool | int | float | str | bytes | Decimal | datetime | http_sf.Token | http_sf.DisplayString
"""A bare item (RFC 9651 section 3.3)."""

Parameters: TypeAlias = Mapping[str, BareItem]
"""Parameters by key."""

_KEY: Final = r"[a-z*][a-z0-9_.*-]*+"
_STRING: Final = r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"'
# A bare item: a string, a display string, or any other item, each up to its delimiter.
_BARE: Final = rf"(?>{_STRING}|%\"[^\"]*+\"|[A-Za-z0-9:/!#$%&'*+.^_`|~=?@-]++)"
_GIVEN: Final = rf"(?>(?:; *+{_KEY}(?>(?:={_BARE})?))*)"
_ITEMS: Final = rf"(?>(?:{_BARE}{_GIVEN}(?> ++|(?=\))))*)"
_MEMBER: Final = rf"({_KEY})(?>(?:=(?:\( *+({_ITEMS})\)|({_BARE})))?)({_GIVEN})[ \t]*+(?:(,)[ \t]*+|\Z)"
_ITEM: Final = rf"({_BARE})({_GIVEN})"
_PARAMETER: Final = rf"; *+({_KEY})(?>(?:=({_BARE}))?)"
_NUMBER: Final = r"-?(?>[0-9]{1,12}+\.[0-9]{1,3}+|[0-9]{1,15}+)"
_WORD: Final = r"[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]*+"
_ESCAPES: Final = r"\"[^%]*+(?>(?:%[0-9a-f]{2}[^%]*+)*)"

_ESCAPED: Final = r"[^ !#$&-~]"

_compiled = cache(re.compile)
"""Compiles a pattern when it is first needed: hardly any process needs one of them."""

_INTEGER_DIGITS: Final = 15
_PADDING_SIGNS: Final = 2
_SECOND: Final = timedelta(seconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_dictionary(value: str) -> dict[str, tuple[object, Parameters]] | None:
    """Return the members of a dictionary by key, as http-sf returns them, or None if http-sf must decide.

    Args:
        value: the field value. The caller checks its size first.
    """
    if not value.isascii():
        return None
    members: dict[str, tuple[object, Parameters]] = {}
    at, more = len(value) - len(value.lstrip(" ")), True
    try:
        while more:
            match = _compiled(_MEMBER).match(value, at)
            if match is None or match[1] in members:
                return None
            key, items, bare, given, comma = match.groups()
            read: object = True if bare is None else _bare(bare)
            members[key] = (read if items is None else _items(items), _parameters(given))
            at, more = match.end(), comma is not None
    except (ValueError, OverflowError):
        return None
    return members


def serialize_dictionary(members: Mapping[str, tuple[object, Parameters]]) -> str:
    """Return a dictionary that was read as RFC 9651 section 4.1.2 serializes it."""
    texts = [
        f"{key}{serialize_parameters(member[1])}" if member[0] is True else f"{key}={serialize_member(member)}"
        for key, member in members.items()
    ]
    return ", ".join(texts)


def serialize_member(member: tuple[object, Parameters]) -> str:
    """Return a member of a dictionary that was read: an item or an inner list with its parameters."""
    value, parameters = member
    if isinstance(value, list):
        items = cast("list[tuple[BareItem, Parameters]]", value)
        text = f"({' '.join([serialize_item(item) + serialize_parameters(given) for item, given in items])})"
    else:
        text = serialize_item(cast("BareItem", value))
    return text + serialize_parameters(parameters)


def serialize_parameters(parameters: Parameters) -> str:
    """Return parameters that were read as RFC 9651 section 4.1.1.2 serializes them."""
    if not parameters:
        return ""
    return "".join(
        [f";{name}" if value is True else f";{name}={serialize_item(value)}" for name, value in parameters.items()]
    )


def serialize_item(item: BareItem) -> str:  # noqa: PLR0911 - one for each type
    """Return a bare item that was read as RFC 9651 section 4.1.3.1 serializes it.

    http-sf looks at each character of a text. Here the reader has checked it.
    """
    if isinstance(item, str):
        return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(item, bool):
        return "?1" if item else "?0"
    if isinstance(item, (int, http_sf.Token)):
        return str(item)
    if isinstance(item, bytes):
        return f":{b2a_base64(item, newline=False).decode()}:"
    if isinstance(item, datetime):
        return f"@{(item - _EPOCH) // _SECOND}"
    if isinstance(item, Decimal):
        digits = str(item).rstrip("0") if item else "0."
        return f"{digits}0" if digits[-1] == "." else digits
    if isinstance(item, http_sf.DisplayString):
        octets = item.encode().decode("latin-1")
        return '%"' + _compiled(_ESCAPED).sub(_escape, octets) + '"'
    return http_sf.ser(item)


def _escape(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02x}"


def _items(text: str) -> list[tuple[BareItem, dict[str, BareItem]]]:
    """Return the items of an inner list, each with its parameters."""
    return [(_bare(bare), _parameters(given)) for bare, given in _compiled(_ITEM).findall(text)]


def _parameters(text: str) -> dict[str, BareItem]:
    """Return parameters by key. Raises ValueError if a key is repeated."""
    if not text:
        return {}
    found: Sequence[tuple[str, str]] = _compiled(_PARAMETER).findall(text)
    parameters = {key: _bare(bare) if bare else True for key, bare in found}
    if len(parameters) != len(found):
        raise ValueError(text)
    return parameters


def _bare(text: str) -> BareItem:
    """Return the value of a bare item (RFC 9651 section 4.2.3.1). Raises ValueError if http-sf must decide."""
    first = text[0]
    if first == '"':
        return _string(text[1:-1])
    if first in "-0123456789":
        return _number(text)
    if first == ":":
        return _byte_sequence(text)
    if first == "@" and "." not in text:
        return _EPOCH + timedelta(seconds=int(_number(text[1:])))
    return text == "?1" if text in {"?0", "?1"} else _text(text)


def _text(text: str) -> http_sf.Token | http_sf.DisplayString:
    if text[0] == "%" and text.isprintable() and _compiled(_ESCAPES).fullmatch(text, 1):
        return http_sf.DisplayString(unquote_to_bytes(text[2:-1]).decode())
    if _compiled(_WORD).fullmatch(text):
        return http_sf.Token(text)
    raise ValueError(text)


def _number(text: str) -> int | Decimal:
    if text.isdigit() and len(text) <= _INTEGER_DIGITS:
        return int(text)
    if _compiled(_NUMBER).fullmatch(text):
        return Decimal(text) if "." in text else int(text)
    raise ValueError(text)


def _string(text: str) -> str:
    if text.isprintable():
        if "\\" not in text:
            return text
        # Two backslashes are one, and may come before a quote.
        read = text.replace("\\\\", "\n").replace('\\"', '"')
        if "\\" not in read:
            return read.replace("\n", "\\")
    raise ValueError(text)


def _byte_sequence(text: str) -> bytes:
    encoded = text[1:-1].rstrip("=")
    padding = len(text) - len(encoded) - 2
    # RFC 9651 section 4.2.7 asks parsers to accept a sequence without its padding.
    if text == ":" or text[-1] != ":" or padding > _PADDING_SIGNS or (padding and not encoded):
        raise ValueError(text)
    return a2b_base64(encoded + "=" * (-len(encoded) % 4), strict_mode=True)

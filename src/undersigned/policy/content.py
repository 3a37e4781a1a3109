"""Unsigned content: whether some reader may find a listed name or the registration of a webhook in it (AdCP).

If someone in transit can change the registration of a webhook, they choose how every later delivery is authenticated.
It must be signed, even if the request has another valid credential.

Applications read JSON in many ways, and a policy cannot read as each of them does. It reads in one way: strictly, as
UTF-8 and RFC 8259. Content that is not that, but that someone could read as JSON, is judged by its octets. If it may
hide a word, it must be signed.
"""

from __future__ import annotations

import re
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, Final

from undersigned.limits import LONGEST_JSON_START
from undersigned.message.content import has_content_coding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request
    from undersigned.message.strict_json import JSONValue

_AUTHENTICATION: Final = re.compile(r"[\W_]*authentication[\W_]*(?:\0.*)?", re.IGNORECASE | re.DOTALL)
_WEBHOOK: Final = re.compile(r"web[\W_]*hook|notification[\W_]*config", re.IGNORECASE)
_IN_A_STRING: Final = re.compile(rb'authentication\\"(?:\\[nrt])*:')
"""A member of JSON that is in a string of JSON, in what `_words` returns."""

_LOWER: Final = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_LETTERS: Final = (ascii_uppercase + ascii_lowercase + digits).encode()
_NOT_LETTERS: Final = bytes(set(range(256)) - set(_LETTERS))
_NOT_QUOTED: Final = bytes(set(_NOT_LETTERS) - set(b'"'))
_NOT_WORDS: Final = bytes(set(_NOT_LETTERS) - set(b'":\\'))
_ALIKE: Final = (b"\xe2\x84\xaa", b"k"), (b"\xc5\xbf", b"s")
"""The characters that are ASCII letters in another case: the Kelvin sign and the long s."""

_HIDING: Final = re.compile(rb"\\u(?:00(?:2[d-fD-F]|3[0-9]|[46][1-9a-fA-F]|5[0-9aAcCfF]|7[0-9aA])|017[fF]|212[aA])")
"""An escape of a letter, digit, backslash or separator, which no JSON needs."""

_NOT_JSON: Final = re.compile(rb"\\(?<!\\\\)(?:[xU0-7]|u\{)")
"""An escape that JSON does not have."""

_CHARSET: Final = re.compile("charset", re.IGNORECASE)
_LIKE_ASCII: Final = re.compile(
    r";[ \t]*charset=(\"?)(?:utf-?8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-8])\1[ \t]*(?=;|\Z)", re.IGNORECASE
)
"""A charset in which each ASCII octet is this ASCII character."""

_BEFORE_JSON: Final = b" \t\r\n\0\xef\xbb\xbf\xfe\xff"
"""Octets that may come before JSON: white space, and what UTF-16, UTF-32 and byte order marks add."""
_UNSEEN: Final = bytes(set(range(256)) - set(range(0x21, 0x7F)))
"""Octets that some readers drop before they parse: all but the visible ones of ASCII."""
_BLANK: Final = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|(?:\0\0)?\xfe\xff)?(?>(?:\0{0,3}[ \t\r\n])*)\0{0,3}")
"""White space, as it comes before JSON in UTF-8, UTF-16 and UTF-32, after a byte order mark or none."""
_JSON_START: Final = re.compile(rb'\{["}]|\[[\[{"]|"[\[{"\\]')


def names_webhook(name: str) -> bool:
    """Return whether the name of a member, operation, method or path segment contains webhook or notification config.

    Case and separators do not matter: `push_notification_config`, `pushNotificationConfig` and `reporting_webhook` do.
    """
    return _WEBHOOK.search(name) is not None


def may_be_json(start: bytes, fields: HeaderFields, *, ended: bool) -> bool | None:
    """Return whether content that begins with `start` may be JSON for some reader, or None if more of it must be read.

    It may be if it begins with a JSON object, an array or a string that may itself be JSON, also after bytes that some
    readers drop, or if the fields say that it is to be decoded. It also may be if much white space has come and nothing
    else, for any amount of it may come before JSON.

    Args:
        start: the first bytes.
        fields: the headers.
        ended: whether there are no more bytes.
    """
    begin = start.lstrip(_BEFORE_JSON)
    if begin[:1] in {b"{", b"["} or _is_decoded(fields):
        return True
    visible = begin[:LONGEST_JSON_START].translate(None, _UNSEEN)
    if _JSON_START.match(visible) is not None:
        return True
    if len(visible) >= 2 or len(begin) >= LONGEST_JSON_START or ended:  # noqa: PLR2004 - a pair
        return False
    if len(start) < 2 * LONGEST_JSON_START:
        return None
    return _BLANK.fullmatch(start, 0, len(start) - len(begin)) is not None


class UnsignedContent:
    """The content of an unsigned request, as some reader may read it. Each thing is found out once, and if it matters.

    Args:
        request: the request, with its content if it may be JSON.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        octets = request.body
        # In UTF-16 and UTF-32, NUL is next to the first character.
        self._is_wide = octets.lstrip(_BEFORE_JSON)[:2] in {b"{\0", b"[\0", b'"\0'}
        self._is_json = bool(octets and may_be_json(octets, request.fields, ended=True))

    @cached_property
    def _value(self) -> tuple[JSONValue] | None:
        """What the strict reader reads, or None if it does not take the content."""
        try:
            return (self._request.strict_json(),)
        except ValueError:
            return None

    @cached_property
    def _plain(self) -> bytes:
        """The octets with ASCII letters for those in another case, and without escapes, which hide none."""
        octets = self._request.body
        if not octets.isascii():
            for character, letter in _ALIKE:
                octets = octets.replace(character, letter)
        # JSON in a string has one backslash more for each string around it.
        while b"\\\\" in octets:
            octets = octets.replace(b"\\\\", b"\\")
        if b"\\u" in octets:
            octets = octets.replace(rb"\u0022", rb"\"").decode("raw_unicode_escape", "ignore").encode("ascii", "ignore")
        return octets

    @cached_property
    def _letters(self) -> bytes:
        return self._plain.translate(_LOWER, _NOT_LETTERS)

    @cached_property
    def _is_hidden(self) -> bool:
        """Whether it may have words that its octets do not show."""
        octets = self._request.body
        if self._is_wide or _is_decoded(self._request.fields):
            return True
        if _HIDING.search(octets) is not None:
            return True
        return b"\\" in octets and self._value is None and _NOT_JSON.search(octets) is not None

    def registers_webhook(self, *, inside: bool) -> bool:
        """Return whether it registers a webhook with an `authentication` of its own.

        That is an `authentication` other than null, at any depth below a member that names a webhook. Content that the
        strict reader does not take counts if it has both words. JSON in a string, which some SDKs parse, counts too.

        Args:
            inside: whether the whole request registers a webhook. Then an `authentication` anywhere counts.
        """
        if not self._is_json or self._is_hidden:
            return self._is_json
        is_inside = inside or b"webhook" in self._letters or b"notificationconfig" in self._letters
        if not (is_inside and b"authentication" in self._letters):
            return False
        is_in_string = _IN_A_STRING.search(self._plain.translate(_LOWER, _NOT_WORDS)) is not None
        return is_in_string or self._value is None or _registers(self._value[0], inside=inside)

    def may_name(self, names: Iterable[str]) -> bool:
        """Return whether some reader may find one of the names in it.

        In JSON that the strict reader takes, a string must be the name. In other content, the name may be anywhere.

        Args:
            names: names in ASCII.
        """
        if not self._is_json or self._is_hidden:
            return self._is_json
        quote, text = (b"", self._letters)
        if self._value is not None:
            quote, text = b'"', self._plain.translate(_LOWER, _NOT_QUOTED)
        return any(quote + name.encode().translate(_LOWER, _NOT_LETTERS) + quote in text for name in names)


def _is_decoded(fields: HeaderFields) -> bool:
    """Return whether the fields say that content is to be decoded to something else than its bytes say."""
    types = fields.values("content-type")
    named, plain = (sum(len(pattern.findall(line)) for line in types) for pattern in (_CHARSET, _LIKE_ASCII))
    return named > min(plain, 1) or has_content_coding(fields)


def _registers(value: JSONValue, *, inside: bool) -> bool:
    """Search a value. Content may be nested deeper than calls may be, so it uses a stack."""
    stack: list[tuple[dict[str, JSONValue] | list[JSONValue], bool]] = [([value], inside)]
    while stack:
        container, inside = stack.pop()
        if isinstance(container, list):
            stack += [(item, inside) for item in container if isinstance(item, (dict, list))]
            continue
        for name, member in container.items():
            if inside and member is not None and _AUTHENTICATION.fullmatch(name) is not None:
                return True
            if member and isinstance(member, (dict, list)):
                stack.append((member, inside or _WEBHOOK.search(name) is not None))
    return False

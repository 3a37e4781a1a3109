"""Unsigned content: whether some reader may find a listed name or the registration of a webhook in it (AdCP).

If someone in transit can change the registration of a webhook, they choose how every later delivery is authenticated.
It must be signed, even if the request has another valid credential.

Applications read JSON in many ways, and a policy cannot read as each of them does. It reads in one way: strictly, as
UTF-8 and RFC 8259. Content that is not that, but that someone could read as JSON, is judged by its octets. If it may
hide a word, it must be signed.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from itertools import chain
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, Final

from undersigned.limits import LONGEST_JSON_START, LONGEST_SEARCHED
from undersigned.message.content import has_content_coding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request
    from undersigned.message.strict_json import JSONValue

_WEBHOOK: Final = re.compile(r"web[\W_]*hook|notification[\W_]*config", re.IGNORECASE)
_WEBHOOKS: Final = b"webhook", b"notificationconfig"
_AUTHENTICATION: Final = b"authentication"
_ESCAPES: Final = rb"(?:\\.(?:0[0-9a-f]{3})?)*"
_GIVEN: Final = re.compile(rb'"%b' % _ESCAPES + rb'authentication(?:\\u0000[^"]*|%b)":(?!null)' % _ESCAPES)
"""A member other than null, in squeezed octets of JSON. A name ends at its first NUL for some readers."""
_IN_A_STRING: Final = re.compile(rb'authentication\\+"(?:\\+[nrt])*:')
"""A member of JSON that is in a string of JSON, in squeezed octets."""

_LOWER: Final = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_NOT_LETTERS: Final = bytes({*range(256)} - {*(ascii_letters + digits).encode()})
_ALIKE: Final = b"\xc5\xbf", b"\xe2\x84\xaa"
"""The characters that are ASCII letters in another case: the long s and the Kelvin sign."""

_HIDING: Final = re.compile(rb"\\u(?:00(?:3[0-9]|[46][1-9a-fA-F]|5[0-9aAcC]|7[0-9aA])|017[fF]|212[aA])")
"""An escape of a letter, digit or backslash, which no JSON needs."""
_DIGITS: Final = bytes.maketrans(b"4567", b"3333")
_MAYBE_HIDING: Final = rb"\u003", rb"\u013", rb"\u212"
"""How such an escape begins, and few others, if each digit above 3 is a 3. To look for it costs much less."""

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

    A word is found without its case, and without what some reader may drop: all but ASCII letters and digits. Each step
    is one pass over the octets in C, so that no content costs more than a few times what it costs to parse it.

    Args:
        request: the request, with its content if it may be JSON.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._is_json = bool(request.body and may_be_json(request.body, request.fields, ended=True))

    @cached_property
    def _value(self) -> tuple[JSONValue] | None:
        """What the strict reader reads, or None if it does not take the content."""
        try:
            return (self._request.strict_json(),)
        except ValueError:
            return None

    @cached_property
    def _plain(self) -> bytes | None:
        """The octets without escapes, or None if they may have words that this does not show."""
        octets = self._request.body
        # In UTF-16 and UTF-32, NUL is next to the first character.
        is_wide = octets.lstrip(_BEFORE_JSON)[:2] in {b"{\0", b"[\0", b'"\0'}
        if is_wide or _is_decoded(self._request.fields):
            return None
        if b"\\" not in octets:
            return octets
        if self._value is None and _NOT_JSON.search(octets) is not None:
            return None
        if b"\\u" not in octets:
            return octets
        digits = octets.translate(_DIGITS)
        if any(one in digits for one in _MAYBE_HIDING) and _HIDING.search(octets) is not None:
            return None
        return _unescaped(octets)

    @cached_property
    def _dropped(self) -> bytes:
        """What no word has. If a letter has a double in the content, neither of them counts."""
        octets = self._request.body
        has_doubles = not octets.isascii() and any(one[:1] in octets and one in octets for one in _ALIKE)
        return _NOT_LETTERS + (b"kKsS" if has_doubles else b"")

    def _squeezed(self, octets: bytes, kept: bytes = b"") -> bytes:
        return octets.translate(_LOWER, self._dropped.translate(None, kept))

    @cached_property
    def _text(self) -> bytes | None:
        """The words and quotation marks of its octets, or None if some reader may find other words."""
        if not self._is_json:
            return b""
        return None if self._plain is None else self._squeezed(self._plain, b'"')

    def registers_webhook(self, *, inside: bool) -> bool:
        """Return whether it registers a webhook with an `authentication` of its own.

        That is an `authentication` other than null, at any depth below a member that names a webhook. Content that the
        strict reader does not take, and long content, counts if it has both words. JSON in a string, which some SDKs
        parse, counts too.

        Args:
            inside: whether the whole request registers a webhook. Then an `authentication` anywhere counts.
        """
        text, octets = self._text, self._request.body
        if text is None:
            return True
        if _AUTHENTICATION not in text or not (inside or any(self._squeezed(word) in text for word in _WEBHOOKS)):
            return False
        if len(octets) > LONGEST_SEARCHED or self._value is None:
            return True
        squeezed = self._squeezed(_unescaped(octets.replace(rb"\u0022", rb"\"")), b'":\\')
        return _IN_A_STRING.search(squeezed) is not None or self._registers(self._value[0], inside=inside)

    def _registers(self, value: JSONValue, *, inside: bool) -> bool:
        """Search a value, one level after the other. Content may be nested deeper than calls may be."""
        hook, config = map(self._squeezed, _WEBHOOKS)
        level: list[JSONValue] = [] if inside else [value]
        hooks: list[JSONValue] = [value] if inside else []
        while level:
            objects = [one for one in level if isinstance(one, dict)]
            names = [*set(chain.from_iterable(objects))]
            squeezed = self._squeezed("\n".join(names).encode("ascii", "ignore"), b"\n").split(b"\n")
            if len(squeezed) > max(len(names), 1):
                # A name has a line feed.
                return True
            found = {name for name, one in zip(names, squeezed, strict=False) if hook in one or config in one}
            members = [pair for one in objects for pair in one.items()]
            hooks += [member for name, member in members if name in found]
            level = [*chain.from_iterable(one for one in level if isinstance(one, list))]
            level += [member for name, member in members if name not in found]
        try:
            octets = json.dumps(hooks, ensure_ascii=False).encode("ascii", "ignore")
        except RecursionError:
            return True
        return _GIVEN.search(self._squeezed(octets, b'":[{\\')) is not None

    def may_name(self, names: Iterable[str]) -> bool:
        """Return whether some reader may find one of the names in it.

        In JSON that the strict reader takes, a string must be the name. In other content, the name may be anywhere.

        Args:
            names: names in ASCII.
        """
        text, words = self._text, {self._squeezed(name.encode()) for name in names}
        if text is None:
            return True
        if self._value is None:
            return any(word in text for word in words)
        return not words.isdisjoint(text.split(b'"'))


def _unescaped(octets: bytes) -> bytes:
    """Return octets without their escapes. JSON in a string has one backslash more for each string around it."""
    while b"\\\\" in octets:
        octets = octets.replace(b"\\\\", b"\\")
    return octets.decode("raw_unicode_escape", "ignore").encode("ascii", "ignore")


def _is_decoded(fields: HeaderFields) -> bool:
    """Return whether the fields say that content is to be decoded to something else than its bytes say."""
    types = fields.values("content-type")
    named, plain = (sum(len(pattern.findall(line)) for line in types) for pattern in (_CHARSET, _LIKE_ASCII))
    return named > min(plain, 1) or has_content_coding(fields)

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
from itertools import chain
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, Final

from undersigned.limits import LONGEST_JSON_START, LONGEST_SEARCHED, MOST_DAMAGED_ESCAPES
from undersigned.message.content import has_content_coding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request
    from undersigned.message.strict_json import JSONValue

_WEBHOOK: Final = re.compile(r"web[\W_]*hook|notification[\W_]*config", re.IGNORECASE)
_WEBHOOKS: Final = b"webhook", b"notificationconfig"
_AUTHENTICATION: Final = b"authentication"
_IN_A_STRING: Final = re.compile(rb"authentication {2,}(?: +[nrt])*:")
"""A member of JSON that is in a string of JSON, in squeezed octets with spaces for quotation marks and backslashes."""
_BEFORE_NAMES: Final = b"", b"b", b"f", b"n", b"r", b"t"
"""What remains before a name of an escape, such as that of a line feed, which a reader may strip."""

_LOWER: Final = bytes.maketrans(ascii_uppercase.encode() + b'"\\', ascii_lowercase.encode() + b"  ")
_NOT_LETTERS: Final = bytes({*range(256)} - {*(ascii_letters + digits).encode()})
_ALIKE: Final = b"\xc5\xbf", b"\xe2\x84\xaa"
"""The characters that are ASCII letters in another case: the long s and the Kelvin sign."""

_CHARSET: Final = re.compile("charset", re.IGNORECASE)
_LIKE_ASCII: Final = re.compile(
    r";[ \t]*charset=(\"?)(?:utf-?8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-8])\1[ \t]*(?=;|\Z)", re.IGNORECASE
)
"""A charset in which each ASCII octet is this ASCII character."""

_BEFORE_JSON: Final = b" \t\r\n\0\xef\xbb\xbf\xfe\xff"
"""Octets that may come before JSON: white space, and what UTF-16, UTF-32 and byte order marks add."""
_UNSEEN: Final = bytes(set(range(256)) - set(range(0x21, 0x7F)))
"""Octets that some readers drop before they parse: all but the visible ones of ASCII."""
_AS_OCTAL: Final = bytes.maketrans(_UNSEEN + b"1234567xU", b"0" * (len(_UNSEEN) + 9))
"""Makes each escape that JSON does not have begin as `\\0` does, but those that begin as `\\u` does."""
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

    `ended` is whether there are no more bytes.
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
    is one pass in C, so that no content costs more than a few times what it costs to parse it.
    """

    def __init__(self, request: Request) -> None:
        self._request = request

    @cached_property
    def _value(self) -> tuple[JSONValue] | None:
        """What the strict reader reads, or None if it does not take the content."""
        try:
            return (self._request.strict_json(),)
        except ValueError:
            return None

    @cached_property
    def _plain(self) -> bytes | None:
        """The octets without escapes, none if nobody reads them as JSON, or None if they may have hidden words."""
        octets = self._request.body
        if not octets or not may_be_json(octets, self._request.fields, ended=True):
            return b""
        # In UTF-16 and UTF-32, NUL is next to the first character.
        is_wide = octets.lstrip(_BEFORE_JSON)[:2] in {b"{\0", b"[\0", b'"\0'}
        if is_wide or _is_decoded(self._request.fields):
            return None
        if b"\\" in octets and self._value is None:
            single = octets.replace(b"\\\\", b"")
            if rb"\0" in single.translate(_AS_OCTAL) or _decoded(single) is None:
                return None
            # Some readers drop octets, and others a backslash that is before a line feed.
            plain = _unescaped(octets.translate(None, _UNSEEN))
            return plain and plain.replace(b"\\", b"")
        return _unescaped(octets)

    @cached_property
    def _dropped(self) -> bytes:
        """What no word has. If a letter has a double in the content, neither of them counts."""
        texts = [one for one in (self._request.body, self._plain or b"") if not one.isascii()]
        has_doubles = any(double[:1] in one and double in one for one in texts for double in _ALIKE)
        return _NOT_LETTERS + (b"kKsS" if has_doubles else b"")

    def _squeezed(self, octets: bytes, kept: bytes = b"") -> bytes:
        return octets.translate(_LOWER, self._dropped.translate(None, kept))

    @cached_property
    def _words(self) -> bytes | None:
        """The words, apart where a string or an escape ends, or None if some reader may find other words."""
        return None if self._plain is None else self._squeezed(self._plain, b'"\\')

    def registers_webhook(self, *, inside: bool) -> bool:
        """Return whether it registers a webhook with an `authentication` of its own.

        That is an `authentication` other than null, at any depth below a member that names a webhook. Content that the
        strict reader does not take, and long content, counts if it has both words. JSON in a string, which some SDKs
        parse, counts too. If the whole request registers a webhook (`inside`), an `authentication` anywhere counts.
        """
        text, octets = self._words, self._request.body
        if text is None:
            return True
        if _AUTHENTICATION not in text or not (inside or any(self._squeezed(word) in text for word in _WEBHOOKS)):
            return False
        if len(octets) > LONGEST_SEARCHED or self._value is None:
            return True
        inner = _unescaped(octets.replace(rb"\u0022", rb"\""))
        if inner is None or _IN_A_STRING.search(self._squeezed(inner, b'":\\')) is not None:
            return True
        hook, config = map(self._squeezed, _WEBHOOKS)
        hooks = [*self._value] if inside else self._members(self._value[0], lambda name: hook in name or config in name)
        return any(one is not None for one in self._members(hooks, lambda name: name == _AUTHENTICATION))

    def _members(self, value: JSONValue, is_named: Callable[[bytes], bool]) -> list[JSONValue]:
        """Return the values of the members with such names, at any depth. Nothing is sought in these."""
        found: list[JSONValue] = []
        level = [value]
        while level:
            objects = [one for one in level if isinstance(one, dict)]
            names = [*set(chain.from_iterable(objects))]
            octets = "\n".join(name.replace("\n", "") for name in names).encode("ascii", "ignore")
            squeezed = self._squeezed(octets, b"\n\0").split(b"\n")
            # Some readers drop a NUL, and for others a name ends there.
            read = [[one.replace(b"\0", b""), *one.split(b"\0")] for one in squeezed]
            named = {name for name, ones in zip(names, read, strict=False) if any(map(is_named, ones))}
            members = [pair for one in objects for pair in one.items()]
            found += [member for name, member in members if name in named]
            level = [*chain.from_iterable(one for one in level if isinstance(one, list))]
            level += [member for name, member in members if name not in named]
        return found

    def may_name(self, names: Iterable[str]) -> bool:
        """Return whether some reader may find one of the names in it.

        In JSON that the strict reader takes, a string must be the name. In other content, the name may be anywhere.
        """
        text, words = self._words, {self._squeezed(name.encode()) for name in names}
        if text is None:
            return True
        if self._value is None:
            return any(word in text for word in words)
        return not {before + word for before in _BEFORE_NAMES for word in words}.isdisjoint(text.split())


def _unescaped(octets: bytes) -> bytes | None:
    """Return octets without their escapes, or None if one is of a letter or digit, which no JSON needs.

    JSON in a string has one backslash more for each string around it.
    """
    if b"\\" not in octets:
        return octets
    escaped = octets
    while b"\\\\" in escaped:
        escaped = escaped.replace(b"\\\\", b"\\")
    escaped = escaped.replace(rb"\/", b"/")
    if rb"\u" not in escaped:
        return escaped
    text = _decoded(escaped)
    if text is None:
        # A string may have backslashes of its own, as a path has.
        if octets.count(rb"\\u") > MOST_DAMAGED_ESCAPES:
            return None
        escaped = escaped.replace(rb"\U", b"U")
        text = escaped.decode("raw_unicode_escape", "replace")
    plain = text.encode("utf-8", "ignore")
    # After its backslash, an escape has letters and digits only: as many fewer as the text gets shorter.
    before, after = (len(one.translate(None, _NOT_LETTERS)) for one in (escaped, plain))
    return plain if before - after == len(escaped) - len(text) and rb"\u" not in plain else None


def _decoded(octets: bytes) -> str | None:
    """Return octets without their escapes of one level, or None if one of these is damaged."""
    try:
        return octets.decode("raw_unicode_escape")
    except UnicodeDecodeError:
        return None


def _is_decoded(fields: HeaderFields) -> bool:
    """Return whether the fields say that content is to be decoded to something else than its bytes say."""
    types = fields.values("content-type")
    named, plain = (sum(len(pattern.findall(line)) for line in types) for pattern in (_CHARSET, _LIKE_ASCII))
    return named > min(plain, 1) or has_content_coding(fields)

"""Webhook registrations: whether a request registers a webhook with credentials of its own (AdCP webhook security).

If someone on the way can change such a request, they choose how every later delivery is authenticated. So the request
must be signed, even if it has another valid credential. Applications read JSON in several ways, so the content is read
as leniently as any of the usual readers does.
"""

from __future__ import annotations

import codecs
import json
import re
from string import ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from undersigned.limits import LONGEST_JSON_START
from undersigned.message.content import has_content_coding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request

_AUTHENTICATION: Final = "authentication"
_SHORTEST_WORD: Final = len("webhook")
_SHORTEST_JSON: Final = len('{"authentication":1')
_LOWER: Final = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_DROPPED: Final = bytes(set(range(256)) - set((ascii_uppercase + ascii_lowercase + digits).encode()))
_BEFORE_JSON: Final = b" \t\r\n\0\xef\xbb\xbf\xfe\xff"
"""Octets that may come before JSON: white space, and what UTF-16, UTF-32 and byte order marks add."""
_DROPPED_FIRST: Final = "\ufeff \t\r\n" + "".join(map(chr, range(0x20)))
_UNSEEN: Final = bytes(set(range(256)) - set(range(0x21, 0x7F)))
"""Octets that some readers drop before they parse: all but the visible ones of ASCII."""
_BLANK: Final = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|(?:\0\0)?\xfe\xff)?(?>(?:\0{0,3}[ \t\r\n])*)\0{0,3}")
"""White space, as it comes before JSON in UTF-8, UTF-16 and UTF-32, after a byte order mark or none."""
_JSON_START: Final = re.compile(rb'\{["}]|\[[\[{"]|"[\[{"\\]')
_CHARSET: Final = re.compile(r"charset[ \t]*=[ \t]*\"?([A-Za-z0-9_.:+-]+)", re.IGNORECASE)
_LIKE_ASCII: Final = re.compile(r"utf-?8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-8]", re.IGNORECASE)
_SLOW_CODECS: Final = frozenset({"idna", "punycode"})


_Value: TypeAlias = "str | bool | list[_Value] | tuple[tuple[str, _Value], ...] | None"
"""A JSON value. An object is the tuple of its members, also of those whose names are repeated."""

_READER: Final = json.JSONDecoder(
    object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=str, strict=False
)


def names_webhook(name: str) -> bool:
    """Return whether the name of a member, operation, method or path segment contains webhook or notification config.

    Case and separators do not matter: `push_notification_config`, `pushNotificationConfig` and `reporting_webhook` do.
    """
    plain = _plain(name)
    return "webhook" in plain or "notificationconfig" in plain


def may_be_json(start: bytes, fields: HeaderFields, *, ended: bool) -> bool | None:
    """Return whether content that begins with `start` may be JSON for some reader, or None if more of it must be read.

    It may be if it begins with a JSON object, an array or a string that may itself be JSON, also after octets that some
    readers drop, or if the fields say that it is to be decoded in a way that hides its first character. It also may be
    if much white space has come and nothing else, for any amount of it may come before JSON.

    Args:
        start: the first octets.
        fields: the header fields.
        ended: whether there are no more octets.
    """
    if _charsets(fields) or (has_content_coding(fields) and _names_json(fields)):
        return True
    begin = start.lstrip(_BEFORE_JSON)
    if begin[:1] in {b"{", b"["}:
        return True
    visible = begin[:LONGEST_JSON_START].translate(None, _UNSEEN)
    if _JSON_START.match(visible) is not None:
        return True
    if len(visible) >= 2 or len(begin) >= LONGEST_JSON_START or ended:  # noqa: PLR2004 - a pair
        return False
    if len(start) < 2 * LONGEST_JSON_START:
        return None
    return _BLANK.fullmatch(start, 0, len(start) - len(begin)) is not None


def registers_webhook(request: Request, *, inside: bool) -> bool:
    """Return whether the content of a request registers a webhook with an `authentication` of its own.

    That is an `authentication` other than null, at any depth below a member that names a webhook. Some SDKs parse JSON
    in a string, so it counts too. If the type is JSON, content with a Content-Encoding counts unread. Other content is
    searched as it is, because some servers decode it before, and most applications ignore both fields.

    Args:
        request: the request.
        inside: whether the whole request registers a webhook. Then an `authentication` anywhere in the content counts.
    """
    if not request.body:
        return False
    if has_content_coding(request.fields) and _names_json(request.fields):
        return True
    try:
        return any(
            _registers(value, inside=inside) for text in texts_of(request) if _may_have(text) for value in _values(text)
        )
    except (RecursionError, LookupError):
        # Too deep to be searched, or in a charset that is not decoded.
        return True


def strings_of(request: Request) -> Iterator[str]:
    """Yield every string in the JSON content of a request, also names of members and strings in strings of JSON.

    Content that is not JSON is one string.

    Raises:
        LookupError: the content has a charset that is not decoded.
        RecursionError: it is nested too deeply to be searched.
    """
    for text in texts_of(request):
        values = list(_values(text))
        yield from (_strings(values[0]) if values else [text])


def texts_of(request: Request) -> list[str]:
    """Return what readers decode the content to: by its first octets, as for JSON, and by the charset that it names.

    Raises:
        LookupError: the charset is one that is not decoded.
    """
    octets = request.body
    names: list[str] = [json.detect_encoding(octets)]
    for charset in _charsets(request.fields):
        try:
            name = codecs.lookup(charset).name
        except (LookupError, ValueError):
            continue
        if name in _SLOW_CODECS:
            raise LookupError(name)
        names.append(name)
    # Without NUL, ASCII characters in UTF-16 and UTF-32 are ASCII, wherever an octet was lost.
    found: list[str] = [octets.replace(b"\0", b"").decode("utf-8", "ignore")] if b"\0" in octets else []
    for name in dict.fromkeys(names):
        try:
            found.append(octets.decode(name, "ignore").replace("\0", ""))
        except (LookupError, ValueError):
            continue
    return found


def _names_json(fields: HeaderFields) -> bool:
    return "json" in fields.combined.get("content-type", "").lower()


def _charsets(fields: HeaderFields) -> list[str]:
    """Return the charsets of the Content-Type that may read an ASCII octet as another character."""
    named = _CHARSET.findall(fields.combined.get("content-type", ""))
    return [charset for charset in named if _LIKE_ASCII.fullmatch(charset) is None]


def _may_have(text: str) -> bool:
    """Return whether `text` may contain the name: it need not be parsed if it does not."""
    return "\\" in text or _AUTHENTICATION in _plain(text)


def _values(text: str) -> Iterator[_Value]:
    """Yield the JSON value with which `text` begins, if it begins with one."""
    try:
        yield cast("_Value", _READER.raw_decode(text.lstrip().lstrip(_DROPPED_FIRST))[0])
    except ValueError:
        return


def _registers(value: _Value, *, inside: bool) -> bool:
    """Search a value. Content may be nested deeper than calls may be, so it uses a stack."""
    stack = [(value, inside)]
    while stack:
        value, inside = stack.pop()
        if isinstance(value, tuple):
            for name, member in value:
                # Most names are too short for either word. To fold each of them costs ten times what parsing does.
                is_long = len(name) >= _SHORTEST_WORD
                if inside and is_long and member is not None and _plain(name) == _AUTHENTICATION:
                    return True
                if _may_contain(member):
                    stack.append((member, inside or (is_long and names_webhook(name))))
        elif isinstance(value, list):
            stack += [(item, inside) for item in value if _may_contain(item)]
        elif isinstance(value, str) and _may_have(value):
            stack += [(inner, inside) for inner in _values_in(value)]
    return False


def _may_contain(value: _Value) -> bool:
    """Return whether a value may be, or be JSON of, an object with an `authentication`."""
    return len(value) >= _SHORTEST_JSON if isinstance(value, str) else value is not True and bool(value)


def _strings(value: _Value) -> Iterator[str]:
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, tuple):
            for name, member in value:
                yield name
                stack.append(member)
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, str):
            yield value
            stack += _values_in(value)


def _values_in(text: str) -> Iterator[_Value]:
    """Yield the value of a string that is itself JSON with more than a number in it."""
    if text.lstrip().lstrip(_DROPPED_FIRST)[:1] in {"{", "[", '"'}:
        yield from _values(text)


def _plain(name: str) -> str:
    """Return `name` without case and separators: snake, camel and slash forms of a name are the same."""
    folded = name if name.isascii() else name.casefold()
    return folded.encode("ascii", "ignore").translate(_LOWER, _DROPPED).decode("ascii")

"""Webhook registrations: whether a request registers a webhook with credentials of its own (AdCP webhook security).

If someone on the way can change such a request, they choose how every later delivery is authenticated. So the request
must be signed, even if it has another valid credential.
"""

from __future__ import annotations

import re
from itertools import product
from string import ascii_lowercase, ascii_uppercase, digits, hexdigits
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue

_AUTHENTICATION = "authentication"

_LOWER: Final = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_DROPPED: Final = bytes(set(range(256)) - set((ascii_uppercase + ascii_lowercase + digits).encode()))
_PERCENT: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_ESCAPE: Final = re.compile(r"\\(?:u00|U000000|x)([0-9A-Fa-f]{2})")
# Tables, as an escape may come every three bytes and each would take a call.
_CHARACTERS: Final = {high + low: chr(int(high + low, 16)) for high, low in product(hexdigits, repeat=2)}
_OCTETS: Final = {code.encode(): bytes.fromhex(code) for code in _CHARACTERS}
# Some programs drop characters that nobody sees.
_JSON_START: Final = re.compile(r"[^!-~\w]*+[{\[\"]")

# No character casefolds to two letters of these names, so a name needs as many characters as they have.
_SHORTEST_WEBHOOK: Final = len("webhook")
_SHORTEST: Final = len(_AUTHENTICATION)
_CONTAINERS: Final = (dict, list)


def names_webhook(name: str) -> bool:
    """Return whether the name of a member, operation, method or path segment contains webhook or notification config.

    Case and separators do not matter: `push_notification_config`, `pushNotificationConfig` and `reporting_webhook` do.
    """
    return len(name) >= _SHORTEST_WEBHOOK and _has_webhook(_plain(name))


def _has_webhook(plain: str) -> bool:
    # A pattern of both names takes ten times as long.
    return "webhook" in plain or "notificationconfig" in plain


def registers_authentication(content: JSONValue, *, inside: bool) -> bool:
    """Return whether the content of a request registers a webhook with an `authentication` of its own.

    That is an `authentication` other than null, at any depth below a member that names a webhook. Some SDKs parse JSON
    in a string. So a string that starts like JSON is searched, as by `mentions_authentication`.

    Args:
        content: the parsed content.
        inside: whether the content is inside a registration, as the whole request registers a webhook. Then an
            `authentication` anywhere in the content counts.
    """
    registering: list[JSONValue] = [content] if inside else []
    other: list[JSONValue] = [] if inside else [content]
    return _is_found(other, registering, inside=False) or _is_found(registering, registering, inside=True)


def _is_found(stack: list[JSONValue], registering: list[JSONValue], *, inside: bool) -> bool:
    """Search the values of `stack`, and move what is below a member that names a webhook to `registering`.

    It uses stacks, because content may be nested deeper than calls may be. A stack only gets values that may contain a
    registration.
    """
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            for item in value:
                if item and (isinstance(item, _CONTAINERS) or (isinstance(item, str) and len(item) > _SHORTEST)):
                    stack.append(item)  # noqa: PERF401 - most lists are short, for which a comprehension costs more
        elif isinstance(value, dict):
            for name, item in value.items():
                if inside and item is not None and _is_authentication(name):
                    return True
                if item and (isinstance(item, _CONTAINERS) or (isinstance(item, str) and len(item) > _SHORTEST)):
                    (registering if inside or names_webhook(name) else stack).append(item)
        elif isinstance(value, str) and _is_mention(value, inside=inside):
            return True
    return False


def mentions_authentication(text: bytes, *, inside: bool) -> bool:
    """Return whether `text` that is not read as JSON names a webhook and an `authentication`.

    A lenient application may read YAML, lines of JSON or a form, or drop octets that it cannot decode. So the names
    count anywhere in the text, in any case, with any separators, and with their escapes decoded.

    Args:
        text: the octets in any encoding that extends ASCII, or in UTF-16 or UTF-32.
        inside: whether the text is inside a registration. Then it need not name the webhook.
    """
    if b"%" in text:
        octets = _PERCENT.split(text)
        octets[1::2] = [_OCTETS[code] for code in octets[1::2]]
        text = b"".join(octets)
    # Without NUL, ASCII characters in UTF-16 and UTF-32 are ASCII. What a reader drops may be inside an escape.
    known = text.replace(b"\0", b"").decode("utf-8", "ignore")
    return _mentions(known, inside=inside)


def _mentions(known: str, *, inside: bool) -> bool:
    """Return what `mentions_authentication` returns, for text without percent-encoding."""
    if "\\" in known:
        known, escapes = _unescape(known)
        if escapes:
            return True
    plain = _plain(known)
    return _AUTHENTICATION in plain and (inside or _has_webhook(plain))


def _unescape(text: str) -> tuple[str, bool]:
    r"""Return `text` with its escapes decoded, and whether that makes another escape.

    JSON in a JSON string makes none: it doubles the backslash of an escape, and does not write it as `\u005c`.
    """
    parts = _ESCAPE.split(text)
    if len(parts) == 1:
        return text, False
    parts[1::2] = [_CHARACTERS[code] for code in parts[1::2]]
    text = "".join(parts)
    return text, _ESCAPE.search(text) is not None


def _is_mention(text: str, *, inside: bool) -> bool:
    """Return whether a string may be JSON that registers a webhook with an `authentication`."""
    if (not inside and len(text) <= _SHORTEST + _SHORTEST_WEBHOOK) or _JSON_START.match(text) is None:
        return False
    if "%" in text or not text.isprintable():
        return mentions_authentication(text.encode("utf-8", "surrogatepass"), inside=inside)
    return _mentions(text, inside=inside)


def _is_authentication(name: str) -> bool:
    return len(name) >= _SHORTEST and _plain(name) == _AUTHENTICATION


def _plain(name: str) -> str:
    """Return `name` without case and separators: snake, camel and slash forms of a name are the same."""
    folded = name if name.isascii() else name.casefold()
    return folded.encode("ascii", "ignore").translate(_LOWER, _DROPPED).decode("ascii")

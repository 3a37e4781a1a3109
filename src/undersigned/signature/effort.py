"""Effort: how much work the unusual parts of a signed message take together, before its signature is checked.

Each part has a bound of its own, which a message with most parts alone may reach. A message that reaches several of
these bounds would cost much more than accepting one. One unit is about a microsecond.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING

from undersigned.limits import LONGEST_PARSED_LINKED, MOST_ESCAPES
from undersigned.message.component import Component
from undersigned.message.header_fields import HeaderFields
from undersigned.message.structured_fields import count_delimiters
from undersigned.signature.rules.coverage import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undersigned.message.component import Coverage
    from undersigned.message.request import Request
    from undersigned.message.response import Response

# Without the space: looking at one takes next to nothing.
_DELIMITERS = ",;:\\%"
BASE_CHARACTERS = 260
"""How many characters of a signature base are one unit, which is the effort to make and to hash them."""

# The components that nearly every signature covers, by their identifiers. Their values need no resolver.
_PLAIN = frozenset(
    {'"@method"', '"@target-uri"', '"@authority"', '"content-type"', '"content-digest"', '"signature-agent"'}
)
# An escape that canonicalizing may change: an ASCII character's, or one with a lower-case digit.
_CHANGED = re.compile("%(?:[0-7a-f]|[89A-F][a-f])")
_TEXT = attrgetter("text")

# What `ComponentValues` derives from the target itself.
_DERIVED = frozenset({'"@scheme"', '"@path"', '"@query"', '"@request-target"', '"@status"'})

# The units of a part.
_OTHER_HOST = 30
_OTHER_COMPONENTS = 20
_TWO_COMPONENTS = 5
_PARSED_COMPONENT = 8
_PARSED_TEXT = 8
_RESOLVER = 40
_DELIMITER = 2
_DELIMITER_OF_WHOLE = 3

# How many of a part are one unit.
_TARGET_CHARACTERS = 160
_CHARACTERS_WITH_ESCAPES = 500
_FIELD_CHARACTERS = 800
_TYPE_CHARACTERS = 16
_WHOLE_CHARACTERS = 20
_ESCAPES = 6
_CHANGED_ESCAPES = 3
_SLASHES = 5
_WRAPPED_LINES = 2

# The fields whose members take two units each, after the first.
_LISTS = ("signature", "signature-input", "content-digest")
_MEMBER = 2


# A usual message is within these bounds. Its lines, its URL and its values take at most 30, 15 and 3 units. A Host that
# is not the URL's takes 30, and the base 17, because it has at most 4,500 characters. So the sum stays below
# `MOST_EFFORT`, and need not be counted.
_USUAL_LINES = 30
_USUAL_URL = 100
_USUAL_VALUES = 2700


def effort_if_unusual(message: Request | Response, coverage: Coverage, *, parsing: int) -> int:
    """Return the effort of a message, or 0 if the message is usual: such a message is always within `MOST_EFFORT`.

    Args:
        message: the message.
        coverage: the covered components.
        parsing: the effort of parsing the signature fields and the digest, which is added.
    """
    fields, url = message.fields, message.url
    if (
        parsing == 0
        and len(url) <= _USUAL_URL
        and len(fields.lines) <= _USUAL_LINES
        and sum(map(len, fields.combined.values())) <= _USUAL_VALUES
        and '"' not in fields.combined.get("content-type", "")
        and _PLAIN.issuperset(coverage.texts)
    ):
        return 0
    return parsing + effort(message, coverage.components)


def effort(message: Request | Response, components: Sequence[Component]) -> int:
    """Return the effort to read a message and the values that its signature covers.

    Args:
        message: the message. The target of a response is the target of its request.
        components: the covered components.
    """
    fields, url = message.fields, message.url
    combined = fields.combined
    path, _, query = url.partition("?")
    # One for each line.
    total = len(fields.lines) + len(url) // _TARGET_CHARACTERS
    total += sum(map(len, combined.values())) // _FIELD_CHARACTERS
    total += _MEMBER * sum([combined.get(name, "").count(",") for name in _LISTS])
    if "/." in path:
        total += path.count("/") // _SLASHES
    if "%" in url:
        total += url.count("%") // _ESCAPES + _of_path_escapes(path) + len(url) // _CHARACTERS_WITH_ESCAPES
    content_type = combined.get("content-type", "")
    if '"' in content_type:
        total += len(content_type) // _TYPE_CHARACTERS
    host = combined.get("host")
    if host is not None and f"://{host}/" not in url:
        total += _OTHER_HOST
    if _PLAIN.issuperset(map(_TEXT, components)):
        return total
    others = [component for component in components if component.text not in _PLAIN]
    return total + _of_others(fields, query, others)


def required_effort(components: Iterable[str]) -> int:
    """Return the effort that every message takes for the components that its profile requires.

    The parsed values are taken to be plain: fields without delimiters, and a query with only the covered parameters.

    Args:
        components: the components, by name or identifier.
    """
    texts = [one if one[0] == '"' else f'"{one}"' for one in dict.fromkeys(components)]
    others = [Component(name_of(text), text, bare=";" not in text) for text in texts if text not in _PLAIN]
    if not others:
        return 0
    names = [component.name for component in others]
    plain = HeaderFields([(name, name) for name in dict.fromkeys(names) if name[0] != "@"])
    return _of_others(plain, "&" * (names.count("@query-param") - 1), others)


def _of_others(fields: HeaderFields, query: str, components: Sequence[Component]) -> int:
    return _OTHER_COMPONENTS + _TWO_COMPONENTS * len(components) // 2 + _of_components(fields, query, components)


def _of_path_escapes(path: str) -> int:
    """Return the effort to decode escapes of a path, or to change their case. Too many are rejected without that."""
    return len(_CHANGED.findall(path)) // _CHANGED_ESCAPES if path.count("%") <= MOST_ESCAPES else 0


def _of_components(fields: HeaderFields, query: str, components: Sequence[Component]) -> int:
    """Return the effort of the components whose values are looked up or parsed.

    Each component counts, and each text that is parsed counts once.
    """
    total, texts = 0, dict[str, int]()
    for component in components:
        name, text = component.name, component.text
        if component.field_name or text.removesuffix(";req") in _DERIVED or text.removesuffix(";req") in _PLAIN:
            continue
        total += _PARSED_COMPONENT
        if name == "@query-param":
            texts[query.replace("&", ";")] = _DELIMITER
        elif text.endswith(";bs"):
            total += len(fields.values(name)) // _WRAPPED_LINES
        else:
            value = fields.combined.get(name, "")
            if text.endswith(";sf"):
                total += len(value) // _WHOLE_CHARACTERS
                texts[value] = _DELIMITER_OF_WHOLE
            else:
                texts.setdefault(value, _DELIMITER)
            if component.bare or text.count(";") > 1:
                total += _RESOLVER
    total += _PARSED_TEXT * len(texts)
    for text, units in texts.items():
        # A longer text is rejected before it is parsed (`ParsedAmount`), or is a whole Set-Cookie, which is not parsed.
        # Here it is not searched for delimiters either.
        if len(text) <= LONGEST_PARSED_LINKED:
            total += units * count_delimiters(text, _DELIMITERS)
    return total

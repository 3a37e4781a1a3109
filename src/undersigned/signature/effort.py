"""Effort: how much work the unusual parts of a signed message take together, before its signature is checked.

Each part has a bound of its own, which a message with that part alone may reach. A message that reaches several of
these bounds would cost more than accepting some messages. One unit is about two microseconds.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from undersigned.limits import MOST_ESCAPES
from undersigned.message.structured_fields import count_delimiters
from undersigned.url.path import LOWER_TRIPLET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.message.component import Component, Coverage
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request
    from undersigned.message.response import Response

_DELIMITERS = ",;: \\%"
BASE_CHARACTERS = 256
"""How many characters of a signature base are one unit: it is made, and hashed."""

# The identifiers that nearly every signature covers: no resolver is needed for them.
_PLAIN = frozenset(
    {'"@method"', '"@target-uri"', '"@authority"', '"content-type"', '"content-digest"', '"signature-agent"'}
)
_TEXT = attrgetter("text")

# The units of a part.
_OTHER_HOST = 20
_RESOLVER = 40
_RESOLVED_COMPONENT = 10
_DELIMITER = 2

# How many of a part are one unit.
_TARGET_CHARACTERS = 160
_FIELD_CHARACTERS = 700
_TYPE_CHARACTERS = 32
_ESCAPES = 24
_PATH_ESCAPES = 6
_SLASHES = 6
_LINES = 2
_QUERY_CHARACTERS = 16


# A usual message is within these, and takes at most 15, 18 and 3 units for them, and 20 if its Host is another one.
# With the longest base, that is `MOST_EFFORT`.
_USUAL_LINES = 30
_USUAL_URL = 100
_USUAL_VALUES = 2700


def effort_if_unusual(message: Request | Response, coverage: Coverage, *, parsing: int) -> int:
    """Return the effort of a message, or 0 if the message is usual. A base of any length is then within `MOST_EFFORT`.

    Args:
        message: the message.
        coverage: the covered components.
        parsing: the effort of what was parsed already, which is added.
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
    total = len(fields.lines) // _LINES + len(url) // _TARGET_CHARACTERS + path.count("/") // _SLASHES
    total += sum(map(len, combined.values())) // _FIELD_CHARACTERS
    if "%" in url:
        total += url.count("%") // _ESCAPES + _of_path_escapes(path)
    content_type = combined.get("content-type", "")
    if '"' in content_type:
        total += len(content_type) // _TYPE_CHARACTERS
    host = combined.get("host")
    if host is not None and f"://{host}/" not in url:
        total += _OTHER_HOST
    if _PLAIN.issuperset(map(_TEXT, components)):
        return total
    resolved = [component for component in components if not component.field_name and component.text not in _PLAIN]
    return total + _of_components(fields, query, resolved) if resolved else total


def _of_path_escapes(path: str) -> int:
    """Return the effort to bring the escapes of a path into upper case. More of them than the bound are not read."""
    escapes = path.count("%")
    return (escapes + len(LOWER_TRIPLET.findall(path))) // _PATH_ESCAPES if escapes <= MOST_ESCAPES else 0


def _of_components(fields: HeaderFields, query: str, components: Sequence[Component]) -> int:
    """Return the effort of the components that a resolver resolves: of each, and of each text that it parses."""
    total, texts = _RESOLVER + _RESOLVED_COMPONENT * len(components), set[str]()
    for component in components:
        name = component.name
        if name == "@query-param":
            total += len(query) // _QUERY_CHARACTERS
        elif component.text.endswith(";bs") or component.bare:
            total += len(fields.values(name)) // _LINES
        else:
            texts.add(fields.combined.get(name, ""))
    return total + _DELIMITER * sum(count_delimiters(text, _DELIMITERS) for text in texts)

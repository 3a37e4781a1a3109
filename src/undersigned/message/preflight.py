"""Which requests are CORS preflights, that no browser can sign. The guard and the guards of routes let them pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Container

METHOD_OVERRIDES: Final = ("x-http-method-override", "x-http-method", "x-method-override")
"""The fields by which some applications run another method than the one of the request."""

_METHODS = frozenset({"get", "head", "post", "put", "patch", "delete", "query", "connect", "trace"})
_BETWEEN = re.compile(r"[&;,\0\r\n]")
_AROUND = " \t\"'"


def is_preflight(method: str | None, names: Container[str]) -> bool:
    """Return whether a request is a CORS preflight, which no browser can sign.

    A browser adds no field that names another method, so a request that has one is no preflight.

    Args:
        method: the method of the request.
        names: its headers, by names in lower case or in a container that ignores case.
    """
    asks = method == "OPTIONS" and "origin" in names and "access-control-request-method" in names
    return asks and not any(name in names for name in METHOD_OVERRIDES)


def names_method(text: str) -> bool:
    """Return whether an item of a list or query is a method other than OPTIONS, in any case and escaping.

    Args:
        text: items between commas, semicolons or `&`.
    """
    once = unquote(text.replace("+", " "))
    items = (item for form in (text, once, unquote(once)) for item in _BETWEEN.split(form))
    return any(item.strip(_AROUND).casefold() in _METHODS for item in items)

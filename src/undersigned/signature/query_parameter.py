"""Query parameters as covered components (RFC 9421 section 2.2.8)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote

from undersigned.signature.unresolvable import NO_VALUE, UnresolvableComponent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_IDENTIFIER = re.compile(r'"@query-param";name="([!#-\[\]-~]*)"')


class QueryParameters:
    """The parameters of one query, parsed once and only if a component asks for one.

    Args:
        query: the canonical query, or None.
    """

    __slots__ = ("_parsed", "_query")

    def __init__(self, query: str | None) -> None:
        self._query = query or ""
        self._parsed: Mapping[str, Sequence[str]] | None = None

    def value(self, identifier: str) -> str:
        """Return the value of a parameter that appears once, encoded as section 2.2.8 has it.

        Its `name` must have the one encoding that the section gives it. In other encodings a signature could cover one
        parameter many times, and each time would repeat its value in the base.

        Args:
            identifier: the component identifier.

        Raises:
            UnresolvableComponent: the name has another encoding, or the query does not have the parameter exactly once.
        """
        match = _IDENTIFIER.fullmatch(identifier)
        if match is None or _encode(name := unquote(match[1])) != match[1]:
            raise UnresolvableComponent("a covered query parameter is not named as RFC 9421 section 2.2.8 encodes it")
        if self._parsed is None:
            self._parsed = parse_qs(self._query, keep_blank_values=True)
        values = self._parsed.get(name, ())
        if len(values) != 1:
            raise UnresolvableComponent(NO_VALUE)
        return _encode(values[0])


def _encode(text: str) -> str:
    """Return a name or value as section 2.2.8 encodes it."""
    return quote(text, safe="*").replace("~", "%7E")

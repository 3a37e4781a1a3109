"""Variants of the query: a lost or added `?`, another order, another encoding, and parameters added on the way."""

from __future__ import annotations

import re
from itertools import permutations
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlencode

from undersigned.explanation.variant import Alternative, Variant, rewritten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from undersigned.explanation.values import SignedValues

_MOST_PERMUTED: Final = 5
_MOST_PARAMETERS: Final = 32
_SPACE: Final = re.compile(r"%20")
_PLUS: Final = re.compile(r"\+")
_RESERVED: Final = re.compile(r"[!$'()*,/:;?@\[\]~]")
_TRIPLET: Final = re.compile(r"%(?:2[1-9A-Fa-f]|[3-7][0-9A-Fa-f])")
_KEPT: Final = frozenset({"%25", "%26", "%2B", "%3D"})
_ANY_TRIPLET: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_PERCENT: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_DOUBLE: Final = re.compile(r"%25(?=[0-9A-Fa-f]{2})")


def query_text(query: str | None) -> str:
    """Return a query in words: with its `?`, or that there is none."""
    if query is None:
        return "no query"
    return f"?{query}" if query else "a lone ?"


def _of_query(queries: Callable[[str], Iterable[str | None]]) -> Callable[[SignedValues], Iterator[Alternative]]:
    """Return the alternatives of a variant whose function takes the received query and yields signed ones."""

    def alternatives(values: SignedValues) -> Iterator[Alternative]:
        if values.query:
            for query in queries(values.query):
                yield Alternative(values._replace(query=query), query_text(query), query_text(values.query))

    return alternatives


def _before_losing_the_mark(values: SignedValues) -> Iterator[Alternative]:
    if values.query is None:
        yield Alternative(values._replace(query=""), query_text(""), query_text(None))


def _before_adding_the_mark(values: SignedValues) -> Iterator[Alternative]:
    if values.query == "":
        yield Alternative(values._replace(query=None), query_text(None), query_text(""))


def _before_reordering(query: str) -> Iterator[str]:
    parameters = query.split("&")
    if 1 < len(parameters) <= _MOST_PERMUTED:
        yield from map("&".join, permutations(parameters))
    elif 1 < len(parameters) <= _MOST_PARAMETERS:
        yield "&".join(sorted(parameters))
        yield "&".join(sorted(parameters, key=lambda parameter: parameter.partition("=")[0]))
        yield "&".join(reversed(parameters))
        for at, parameter in enumerate(parameters):
            rest = [*parameters[:at], *parameters[at + 1 :]]
            yield "&".join([*rest, parameter])
            yield "&".join([parameter, *rest])
            yield "&".join([*parameters[:at], *parameters[at + 1 : at + 2], parameter, *parameters[at + 2 :]])


def _before_encoding(query: str) -> Iterator[str]:
    yield from rewritten(query, _DOUBLE, "%")
    yield _TRIPLET.sub(_decode, query)
    for triplet in sorted(set(_TRIPLET.findall(query))):
        yield query.replace(triplet, unquote(triplet))


def _decode(triplet: re.Match[str]) -> str:
    """Return the character of an escape, unless it would be a delimiter of parameters."""
    return triplet[0] if triplet[0].upper() in _KEPT else unquote(triplet[0])


def _triplet(character: str) -> str:
    return f"%{ord(character):02X}"


def _before_decoding(query: str) -> Iterator[str]:
    for character in sorted(set(_RESERVED.findall(query))):
        yield query.replace(character, _triplet(character))
    yield _RESERVED.sub(lambda match: _triplet(match[0]), query)
    parameters = parse_qsl(query, keep_blank_values=True, max_num_fields=None)
    yield urlencode(parameters, quote_via=quote_plus)
    yield urlencode(parameters, quote_via=quote, safe="")
    yield from rewritten(query, _PERCENT, "%25")


def _with_other_spaces(query: str) -> Iterator[str]:
    yield from rewritten(query, _PLUS, "%20")
    yield from rewritten(query, _SPACE, "+")


def _with_other_digits(query: str) -> Iterator[str]:
    yield _ANY_TRIPLET.sub(lambda match: match[0].lower(), query)
    yield _ANY_TRIPLET.sub(lambda match: match[0].upper(), query)


def _before_adding(query: str) -> Iterator[str | None]:
    parameters = query.split("&")
    yield None
    for end in range(len(parameters) - 1, max(0, len(parameters) - _MOST_PARAMETERS), -1):
        yield "&".join(parameters[:end])
    for at in range(min(len(parameters) - 1, _MOST_PARAMETERS)):
        yield "&".join([*parameters[:at], *parameters[at + 1 :]])


_ENCODED_AGAIN: Final = (
    "a client, proxy or server parsed the query and wrote it again: sign and forward the query as it is sent"
)

QUERY_VARIANTS: Final = (
    Variant(
        "lost ?", "query",
        "a ? without a query was lost on the way, as ASGI servers cannot report it: do not send a lone ?",
        _before_losing_the_mark,
    ),
    Variant(
        "added ?", "query", "the sender signed a URL without its lone ?: sign the URL as it is sent",
        _before_adding_the_mark,
    ),
    Variant(
        "reordered query", "query", "something sorted the parameters, and their order is signed: keep the order",
        _of_query(_before_reordering),
    ),
    Variant(
        "+ for a space", "query",
        "one side wrote a space as + and the other as %20: sign and forward the query as it is sent",
        _of_query(_with_other_spaces),
    ),
    Variant(
        "other case", "query", "something changed the case of the hex digits: sign and forward the query as it is sent",
        _of_query(_with_other_digits),
    ),
    Variant("encoded octets", "query", _ENCODED_AGAIN, _of_query(_before_encoding)),
    Variant("decoded octets", "query", _ENCODED_AGAIN, _of_query(_before_decoding)),
    Variant(
        "added query", "query", "parameters were added after signing: sign the URL with all its parameters",
        _of_query(_before_adding),
    ),
)  # fmt: skip
"""The variants of the query, the most likely first."""

"""What the sender may have signed instead of what arrived, the most likely first: one generator of alternatives.

Each alternative is a change that one client, proxy or server makes. Nothing here guesses: a caller verifies the
signature over what each says was signed, and the first that it is valid for is the cause.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from itertools import chain, combinations, islice, product, zip_longest
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode

from undersigned.errors import MalformedURL
from undersigned.explanation.mistakes import base_forms, moved, other_bases, permuted, rarer_bases, signature_forms
from undersigned.explanation.other_contents import digest_forms, other_base64, other_contents
from undersigned.explanation.signed_values import Alternative, SignedValues
from undersigned.message.content_digest import content_digest
from undersigned.message.preflight import METHOD_OVERRIDES
from undersigned.url import canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_PORTS: Final = ("443", "80", "8443", "8080", "8000", "5000", "3000", "8888", "9000")
_HOST_FIELDS: Final = ("x-forwarded-host", "x-original-host", "x-forwarded-server", ":authority", "host")
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY")
_PREFIXES: Final = (
    "/api", "/v1", "/v2", "/api/v1", "/api/v2", "/adcp", "/mcp", "/a2a", "/agent", "/app", "/backend", "/service",
    "/public", "/gateway", "/rest", "/prod", "/dev", "/stage", "/staging",
)  # fmt: skip
_INTERNAL: Final = (
    "localhost", "127.0.0.1", "backend", "app", "web", "api", "server", "service", "upstream", "host.docker.internal",
)  # fmt: skip
_PREFIX_FIELDS: Final = ("x-forwarded-prefix", "x-script-name", "x-forwarded-path")
_TARGETS: Final = ("x-original-uri", "x-original-url", "x-forwarded-uri", "x-envoy-original-path", "x-rewrite-url")
_TYPES: Final = (
    "application/json", "text/plain", "application/x-www-form-urlencoded", "text/json", "application/octet-stream",
    "application/activity+json", "application/ld+json", "application/problem+json", "application/vnd.api+json",
    "text/html", "application/xml", "text/xml", "Application/JSON",
)  # fmt: skip
_CHARSETS: Final = ("", "; charset=utf-8", ";charset=utf-8", "; charset=UTF-8", ";charset=UTF-8")

_ORIGIN: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?]*")
_ANY_TRIPLET: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_TRIPLET: Final = re.compile(r"%(?:2[1-9A-Fa-f]|[3-7][0-9A-Fa-f])")
_RESERVED: Final = re.compile(r"[!$&'()*+,/:;=?@\[\]~]")
_KEPT: Final = frozenset({"%25", "%26", "%2B", "%3D"})
_BARE: Final = re.compile(r"(?<![^&])[^=&]+(?=&|$)")

_MOST_PLACES: Final = 24
_MOST_PARAMETERS: Final = 32
_ALL_SUBSETS: Final = 4
_LONGEST_FIELD: Final = 4096
_MOST_CONTENTS: Final = 60

_Texts: TypeAlias = "Iterable[str]"


def alternatives(values: SignedValues) -> Iterator[Alternative]:
    """Yield what the sender may have signed instead of `values`, the most likely first."""
    for key in values.others:
        told = key.keyid, str(values.read.parameters.get("keyid"))
        yield Alternative("another key", values._replace(keys=(key,)), None, told)
    yield from signature_forms(values)
    typed, base = values.typed, values.base
    signed = values._replace(authority=typed.authority or values.authority, path=typed.path, query=typed.query)
    yield Alternative("not canonical", signed, None, (str(signed.target), str(values.target)))
    yield from chain(_schemes(values), _ports(values), _named_hosts(values), _methods(values))
    if base is not None:
        yield from base_forms(values, base)
    for change in (_octets_of_path, _slashes, _prefixes, _targets, _queries, _fields):
        yield from change(values)
    if base is not None:
        yield from other_bases(values, base)
    yield from _internal_hosts(values)
    for one, other in _PAIRS:
        for first in one(values):
            for second in other(first.values):
                yield Alternative(f"{first.name} and {second.name}", second.values)
    if base is not None:
        yield from rarer_bases(values, base)


def _each(change: Callable[[str], SignedValues], changes: Mapping[str, _Texts]) -> Iterator[Alternative]:
    """Yield the values after each change to a text, by the names of the changes."""
    return (Alternative(name, change(text)) for name, texts in changes.items() for text in texts)


def _schemes(values: SignedValues) -> Iterator[Alternative]:
    yield Alternative("other scheme", values._replace(scheme="http" if values.scheme == "https" else "https"))


def _methods(values: SignedValues) -> Iterator[Alternative]:
    fields = values.fields.combined
    overrides = [fields[name] for name in METHOD_OVERRIDES if name in fields]
    methods = (*overrides, values.method.upper(), values.method.lower(), *_METHODS)
    return _each(lambda method: values._replace(method=method), {"other method": methods})


def _ports(values: SignedValues) -> Iterator[Alternative]:
    host = values.target.host
    ports = re.findall(r"^[0-9]{1,5}$", values.fields.combined.get("x-forwarded-port", ""), re.ASCII)
    return _each(values.with_authority, {"other port": [host, *(f"{host}:{port}" for port in (*ports, *_PORTS))]})


def _named_hosts(values: SignedValues) -> Iterator[Alternative]:
    """Yield the authorities that a header or the configuration names."""
    fields = values.fields.combined
    named = [one.strip() for name in _HOST_FIELDS for one in fields.get(name, "").split(",")[:4]]
    named += re.findall(r'host="?([^";,\s]+)', fields.get("forwarded", "")[:1024].lower())[:4]
    for text in dict.fromkeys((*(origin.authority for origin in values.origins), *named)):
        with suppress(MalformedURL):
            authority = canonicalize_authority(text, values.scheme, received=True)
            yield Alternative("other host", values.with_authority(authority))


def _internal_hosts(values: SignedValues) -> Iterator[Alternative]:
    """Yield the hosts that applications usually have behind a proxy."""
    hosts = [f"{host}{port}" for host in _INTERNAL for port in ("", *(f":{one}" for one in _PORTS))]
    return _each(values.with_authority, {"other host": hosts})


def _rewritten(text: str, pattern: str, replacement: str) -> Iterator[str]:
    """Yield `text` with matches of `pattern` replaced: all of them, then each alone, then several if they are few."""
    pieces, found = re.split(pattern, text), re.findall(pattern, text)
    places = range(len(found))
    sizes = range(1, len(found) if len(found) <= _ALL_SUBSETS else 2)
    for chosen in chain([places], *(combinations(places[:_MOST_PLACES], size) for size in sizes)):
        marks = [replacement if at in chosen else one for at, one in enumerate(found)]
        yield "".join(chain.from_iterable(zip_longest(pieces, marks, fillvalue="")))


def _by_kind(text: str, pattern: re.Pattern[str], change: Callable[[str], str]) -> Iterator[str]:
    """Yield `text` with one or two kinds of what `pattern` finds changed, each wherever it is."""
    kinds = sorted(set(pattern.findall(text)))[:_MOST_PLACES]
    for chosen in chain(combinations(kinds, 1), combinations(kinds, 2)):
        some = re.compile("|".join(map(re.escape, chosen)))
        yield some.sub(lambda match: change(match[0]), text)


def _spellings(text: str) -> Mapping[str, _Texts]:
    """Return a path or a query with its octets written in other ways, by the names of the changes."""
    return {
        "decoded octets": chain(
            _rewritten(text, "%(?=[0-9A-Fa-f]{2})", "%25"),
            _by_kind(text, _RESERVED, lambda character: f"%{ord(character):02X}"),
        ),
        "encoded octets": chain(_rewritten(text, "%25(?=[0-9A-Fa-f]{2})", "%"), _by_kind(text, _TRIPLET, unquote)),
        "+ for a space": chain(_rewritten(text, r"\+", "%20"), _rewritten(text, "%20", "+")),
        "other case": [
            _ANY_TRIPLET.sub(lambda triplet: triplet[0].lower(), text),
            _ANY_TRIPLET.sub(lambda triplet: triplet[0].upper(), text),
        ],
    }


def _octets_of_path(values: SignedValues) -> Iterator[Alternative]:
    path = values.path
    slashes = [match.start() for match in re.finditer("(?<=.)/", path)][:8]
    changes: Mapping[str, _Texts] = {
        "decoded octets": chain(
            _rewritten(path, "(?<=.)/", "%2F"),
            (path[:at] + quote(path[at:], safe="%") for start in slashes for at in (start, start + 1)),
            [quote(path, safe="%/")],
        ),
        "encoded octets": [quote(unquote(path, "latin-1"), "/!$&'()*+,;=:@", "latin-1", "replace")],
    }
    for several in (changes, _spellings(path)):
        yield from _each(lambda path: values._replace(path=path), several)


def _slashes(values: SignedValues) -> Iterator[Alternative]:
    path = values.path
    changes: Mapping[str, _Texts] = {
        "merged slashes": _rewritten(path, "/", "//"),
        "added slashes": _rewritten(path, "/{2,}", "/"),
        "trailing slash": [(path.removesuffix("/") or "/") if path.endswith("/") else f"{path}/"],
    }
    return _each(lambda path: values._replace(path=path), changes)


def _prefixes(values: SignedValues) -> Iterator[Alternative]:
    fields, segments = values.fields.combined, values.path.split("/")
    named = [fields[name].rstrip("/") for name in _PREFIX_FIELDS if fields.get(name, "")[:1] == "/"]
    named += [origin.prefix for origin in values.origins]
    changes: Mapping[str, _Texts] = {
        "stripped prefix": [prefix + values.path for prefix in (*named, *_PREFIXES)],
        "added prefix": [f"/{'/'.join(segments[start:])}" for start in range(2, min(len(segments), 8))],
    }
    return _each(lambda path: values._replace(path=path), changes)


def _targets(values: SignedValues) -> Iterator[Alternative]:
    """Yield the path and the query that headers of proxies name."""
    for name in _TARGETS:
        path, mark, query = _ORIGIN.sub("", values.fields.combined.get(name, "")).partition("?")
        if path[:1] == "/":
            yield Alternative("rewritten target", values._replace(path=path, query=query if mark else None))


def _queries(values: SignedValues) -> Iterator[Alternative]:
    query = values.query
    if not query:
        name, other = ("lost ?", "") if query is None else ("added ?", None)
        yield Alternative(name, values._replace(query=other))
        return
    parameters = query.split("&")
    some = range(min(len(parameters), _MOST_PARAMETERS))
    changes: Mapping[str, _Texts] = {
        "reordered query": map("&".join, chain(moved(parameters), permuted(parameters))),
        "rewritten query": chain(
            _rewritten(query, "(?<=[^=&])=(?=&|$)", ""),
            [_BARE.sub(r"\g<0>=", query), f"{query}&", f"&{query}", query.replace("&&", "&").strip("&")],
            _by_kind(query, _BARE, "{}=".format),
        ),
        # A decoded escape must not become a delimiter of parameters.
        "encoded octets": [
            _TRIPLET.sub(lambda match: match[0] if match[0].upper() in _KEPT else unquote(match[0]), query)
        ],
        "decoded octets": [urlencode(parse_qsl(query, keep_blank_values=True), quote_via=quote, safe="")],
        "added query": chain(
            ("&".join(parameters[:-at]) for at in some[1:]),
            ("&".join([*parameters[:at], *parameters[at + 1 :]]) for at in some),
        ),
    }
    yield Alternative("added query", values._replace(query=None))
    for several in (_spellings(query), changes):
        yield from _each(lambda query: values._replace(query=query), several)


def _types(values: SignedValues, name: str = "other Content-Type") -> Iterator[Alternative]:
    received = values.fields.combined.get("content-type", "").partition(";")[0].strip(" \t")
    types = [f"{one}{charset}" for one, charset in product((received, *_TYPES), _CHARSETS)]
    return _each(partial(values.with_field, "content-type"), {name: types})


def _fields(values: SignedValues) -> Iterator[Alternative]:
    for name in sorted(values.read.coverage.names):
        value = values.fields.combined.get(name)
        if name == "content-type":
            yield from _types(values, "lost field" if value is None else "other Content-Type")
        if name == "content-digest":
            yield from _digests(values, value)
        elif value is not None and len(value) <= _LONGEST_FIELD:
            yield from _each(partial(values.with_field, name), _values_of(value, values.fields.values(name)))


def _digests(values: SignedValues, declared: str | None) -> Iterator[Alternative]:
    body, change = bytes(values.content), partial(values.with_field, "content-digest")
    if declared is None:
        digests = [content_digest(body, encoding, algorithms=names) for names, encoding in digest_forms(None)]
        return _each(change, {"lost field": digests})
    contents = chain([("the body", body)], islice(other_contents(body), _MOST_CONTENTS))
    digested = (
        (content_digest(content, encoding, algorithms=names), f"the digest of {words}")
        for (words, content), (names, encoding) in product(contents, list(digest_forms(declared)))
    )
    others = (Alternative("other content", change(text), None, (words, declared)) for text, words in digested)
    return chain(_each(change, {"other Base64": other_base64(declared)}), others)


def _values_of(value: str, lines: Iterable[str]) -> Mapping[str, _Texts]:
    """Return what a covered header may have been before it was changed, by the names of the changes."""
    lines, members, parts = list(lines), *([one.strip(" \t") for one in value.split(mark)] for mark in ",;")
    joined = [(", ", list(reversed(lines))), *product((",", ", ", " , ", ";", "; ", " ", ""), [lines])]
    joined += [*product((",", ", ", " , "), [members]), *product((";", "; ", " ; "), [parts])]
    fewer = [
        [*([one] for one in (several[0], several[-1])), *([*several[:at], *several[at + 1 :]] for at in range(16))]
        for several in (lines, members)
    ]
    return {
        "other header joining": [*(separator.join(texts) for separator, texts in joined), re.sub("[ \t]+", " ", value)],
        "added value": map(", ".join, chain.from_iterable(fewer)),
        "other case": [value.lower(), value.upper(), value.title()],
    }


_PAIRS: Final = (
    (_schemes, _ports), (_schemes, _named_hosts), (_schemes, _internal_hosts), (_schemes, _prefixes),
    (_named_hosts, _prefixes), (_named_hosts, _slashes), (_named_hosts, _types), (_ports, _prefixes),
    (_prefixes, _slashes), (_prefixes, _queries), (_prefixes, _octets_of_path), (_schemes, _octets_of_path),
    (_schemes, _slashes), (_schemes, _queries), (_schemes, _types), (_named_hosts, _octets_of_path),
    (_named_hosts, _queries), (_octets_of_path, _queries),
)  # fmt: skip
"""Changes that one layer makes at once: a proxy that ends TLS, names another host and strips a prefix."""

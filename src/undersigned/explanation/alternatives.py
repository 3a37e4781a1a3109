"""What the sender may have signed instead of what arrived, the most likely first: one generator of alternatives.

Each alternative is a change that one client, proxy or server makes. Nothing here guesses: a caller verifies the
signature over what each says was signed, and the first that it is valid for is the cause.
"""

from __future__ import annotations

import re
from itertools import chain, combinations, islice, permutations, product
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode

from undersigned.errors import MalformedURL
from undersigned.explanation.contents import digest_forms, other_base64, other_contents
from undersigned.explanation.mistakes import base_forms, other_orders, other_values, signature_forms
from undersigned.explanation.values import Alternative
from undersigned.message.content_digest import content_digest
from undersigned.message.header_fields import METHOD_OVERRIDES
from undersigned.url import canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undersigned.explanation.values import SignedValues

_PORTS: Final = ("443", "80", "8443", "8080", "8000", "5000", "3000", "8888", "9000")
_HOST_FIELDS: Final = ("x-forwarded-host", "x-original-host", "x-forwarded-server", ":authority", "host")
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_PREFIXES: Final = (
    "/api", "/v1", "/v2", "/api/v1", "/api/v2", "/adcp", "/mcp", "/a2a", "/agent", "/app", "/backend", "/service",
    "/public", "/gateway", "/rest", "/prod", "/dev", "/stage", "/staging",
)  # fmt: skip
_INTERNAL: Final = (
    "localhost", "127.0.0.1", "backend", "app", "web", "api", "server", "service", "upstream", "host.docker.internal",
)  # fmt: skip
_PREFIX_FIELDS: Final = ("x-forwarded-prefix", "x-script-name", "x-forwarded-path")
_TARGET_FIELDS: Final = (
    "x-original-uri", "x-original-url", "x-forwarded-uri", "x-envoy-original-path", "x-rewrite-url",
)  # fmt: skip

_ORIGIN: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?]*")
_FORWARDED_HOST: Final = re.compile(r'host="?([^";,\s]+)', re.IGNORECASE)
_PERCENT: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_DOUBLE: Final = re.compile(r"%25(?=[0-9A-Fa-f]{2})")
_ANY_TRIPLET: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_TRIPLET: Final = re.compile(r"%(?:2[1-9A-Fa-f]|[3-7][0-9A-Fa-f])")
_IN_PATH: Final = re.compile(r"[!$&'()*+,:;=@]")
_IN_QUERY: Final = re.compile(r"[!$'()*,/:;?@\[\]~]")
_KEPT: Final = frozenset({"%25", "%26", "%2B", "%3D"})
_BLANKS: Final = re.compile(r"[ \t]+")

_MOST_PLACES: Final = 24
_ALL_SUBSETS: Final = 5
_LONGEST_FIELD: Final = 4096
_MOST_CONTENTS: Final = 60
_MOST_PAIRED: Final = 8
_TYPES: Final = (
    "application/json", "application/json; charset=utf-8", "application/json;charset=utf-8", "text/plain",
    "text/plain; charset=utf-8", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "text/json",
    "application/octet-stream", "application/activity+json", "application/ld+json", "application/problem+json",
    "application/vnd.api+json", "text/html", "text/html; charset=utf-8", "application/xml", "text/xml", "",
)  # fmt: skip


_Named: TypeAlias = "Iterator[tuple[str, str]]"


def alternatives(values: SignedValues, base: str | None) -> Iterator[Alternative]:
    """Yield what the sender may have signed instead of `values`, the most likely first.

    Args:
        values: what was received.
        base: its signature base, or None if it has none.
    """
    for key in values.others:
        yield Alternative("another key", values._replace(keys=(key,)), key.keyid, values.keyid)
    yield from signature_forms(values)
    typed = values.typed
    signed = values._replace(authority=typed.authority or values.authority, path=typed.path, query=typed.query)
    yield Alternative("not canonical", signed, str(signed.target), str(values.target))
    yield from _origins(values)
    if base is not None:
        yield from base_forms(values, base)
    for name, path in _paths(values):
        if path[:1] == "/":
            yield Alternative(name, values._replace(path=path), path, values.path)
    for path, query in _targets(values):
        signed = values._replace(path=path, query=query)
        yield Alternative("rewritten target", signed, _target_text(signed), _target_text(values))
    for name, query in _queries(values.query):
        yield Alternative(name, values._replace(query=query), _query_text(query), _query_text(values.query))
    yield from _fields(values)
    if base is not None:
        yield from other_values(values, base)
        yield from other_orders(values, base)
    yield from _pairs(values)


def _pairs(values: SignedValues) -> Iterator[Alternative]:
    """Yield two changes at once that one layer makes: scheme and host, host and prefix, prefix and slashes."""
    other = "http" if values.scheme == "https" else "https"
    hosts = list(dict.fromkeys(_authorities(values)))
    prefixed = [(name, path) for name, path in _prefixes(values) if path[:1] == "/"]
    guessed = [("other host", host + port) for host in _INTERNAL for port in ("", *(f":{one}" for one in _PORTS))]
    for name, authority in dict.fromkeys((*hosts, *guessed)):
        signed = values._replace(scheme=other, authority=authority)
        yield _both(values, signed, f"other scheme and {name}")
    for name, authority in guessed:
        yield Alternative(name, values._replace(authority=authority), authority, values.authority)
    for (name, authority), (second, path) in product([*hosts, ("other scheme", values.authority)], prefixed):
        scheme = other if name == "other scheme" else values.scheme
        signed = values._replace(scheme=scheme, authority=authority, path=path)
        yield _both(values, signed, f"{name} and {second}")
    for name, path in prefixed:
        for second, changed in _slashes(path):
            yield _both(values, values._replace(path=changed), f"{name} and {second}")
        for second, query in islice(_queries(values.query), _MOST_PAIRED):
            yield _both(values, values._replace(path=path, query=query), f"{name} and {second}")


def _both(values: SignedValues, signed: SignedValues, name: str) -> Alternative:
    return Alternative(name, signed, str(signed.target), str(values.target))


def _target_text(values: SignedValues) -> str:
    return values.path if values.query is None else f"{values.path}?{values.query}"


def _query_text(query: str | None) -> str:
    if query is None:
        return "no query"
    return f"?{query}" if query else "a lone ?"


def _origins(values: SignedValues) -> Iterator[Alternative]:
    """Yield another scheme, port, host or method."""
    fields = values.fields.combined
    scheme = "http" if values.scheme == "https" else "https"
    yield Alternative("other scheme", values._replace(scheme=scheme), scheme, values.scheme)
    for name, authority in _authorities(values):
        yield Alternative(name, values._replace(authority=authority), authority, values.authority)
    overrides = [fields[name] for name in METHOD_OVERRIDES if name in fields]
    for method in dict.fromkeys((*overrides, values.method.upper(), values.method.lower(), *_METHODS)):
        yield Alternative("other method", values._replace(method=method), method, values.method)


def _authorities(values: SignedValues) -> _Named:
    """Yield other authorities: with another port, or that a header or the configuration names."""
    fields, host = values.fields.combined, values.target.host
    ports = re.findall(r"^[0-9]{1,5}$", fields.get("x-forwarded-port", ""), re.ASCII)
    yield from (("other port", one) for one in (host, *(f"{host}:{port}" for port in (*ports, *_PORTS))))
    named = [one.strip() for name in _HOST_FIELDS for one in fields.get(name, "").split(",")[:4]]
    named += _FORWARDED_HOST.findall(fields.get("forwarded", "")[:1024])[:4]
    for text in dict.fromkeys((*values.authorities, *named)):
        try:
            yield "other host", canonicalize_authority(text, values.scheme, received=True)
        except MalformedURL:
            continue


def _rewritten(text: str, pattern: str | re.Pattern[str], replacement: str) -> Iterator[str]:
    """Yield `text` with matches of `pattern` replaced: all of them, then each alone, then several if they are few."""
    matches = list(re.finditer(pattern, text))
    if not matches:
        return
    yield re.sub(pattern, replacement, text)
    some = matches[:_MOST_PLACES]
    for size in range(1, len(some) if len(matches) <= _ALL_SUBSETS else 2):
        for chosen in combinations(some, size):
            pieces: list[str] = []
            at = 0
            for match in chosen:
                pieces += (text[at : match.start()], replacement)
                at = match.end()
            yield "".join([*pieces, text[at:]])


def _named(name: str, texts: Iterable[str]) -> _Named:
    return ((name, text) for text in texts)


def _paths(values: SignedValues) -> _Named:
    path = values.path
    yield from _named("decoded octets", _before_decoding_path(path))
    yield from _named("encoded octets", _before_encoding_path(path))
    yield from _named("+ for a space", chain(_rewritten(path, r"\+", "%20"), _rewritten(path, "%20", "+")))
    yield from _slashes(path)
    yield from _prefixes(values)


def _slashes(path: str) -> _Named:
    yield from _named("merged slashes", _rewritten(path, "/", "//"))
    yield from _named("added slashes", _rewritten(path, "/{2,}", "/"))
    yield "trailing slash", path.removesuffix("/") if path.endswith("/") else f"{path}/"


def _prefixes(values: SignedValues) -> _Named:
    path, fields = values.path, values.fields.combined
    prefixes = [fields[name].rstrip("/") for name in _PREFIX_FIELDS if name in fields]
    for prefix in dict.fromkeys((*prefixes, *values.prefixes, *_PREFIXES)):
        yield "stripped prefix", prefix + path
    segments = path.split("/")
    for start in range(2, min(len(segments), 8)):
        yield "added prefix", f"/{'/'.join(segments[start:])}"


def _before_decoding_path(path: str) -> Iterator[str]:
    yield from _rewritten(path, "(?<=.)/", "%2F")
    yield from _rewritten(path, _PERCENT, "%25")
    for start in [match.start() for match in re.finditer("(?<=.)/", path)][:8]:
        yield path[:start] + quote(path[start:], safe="%")
        yield path[: start + 1] + quote(path[start + 1 :], safe="%")
    yield quote(path, safe="%/")
    for character in sorted(set(_IN_PATH.findall(path))):
        yield path.replace(character, quote(character))


def _before_encoding_path(path: str) -> Iterator[str]:
    yield from _rewritten(path, _DOUBLE, "%")
    yield quote(unquote(path, "latin-1"), safe="/!$&'()*+,;=:@", encoding="latin-1", errors="replace")
    for triplet in sorted(set(_TRIPLET.findall(path))):
        yield path.replace(triplet, unquote(triplet))


def _targets(values: SignedValues) -> Iterator[tuple[str, str | None]]:
    """Yield the path and the query that headers of proxies name."""
    for name in _TARGET_FIELDS:
        path, mark, query = _ORIGIN.sub("", values.fields.combined.get(name, "")).partition("?")
        if path[:1] == "/":
            yield path, query if mark else None


def _queries(query: str | None) -> Iterator[tuple[str, str | None]]:
    if query is None:
        yield "lost ?", ""
        return
    if not query:
        yield "added ?", None
        return
    yield from _named("reordered query", _orders(query.split("&")))
    yield from _named("+ for a space", chain(_rewritten(query, r"\+", "%20"), _rewritten(query, "%20", "+")))
    yield "other case", _ANY_TRIPLET.sub(lambda match: match[0].lower(), query)
    yield "other case", _ANY_TRIPLET.sub(lambda match: match[0].upper(), query)
    yield from _named("encoded octets", _before_encoding_query(query))
    yield from _named("decoded octets", _before_decoding_query(query))
    parameters = query.split("&")
    yield "added query", None
    for at in range(min(len(parameters), 32)):
        yield "added query", "&".join(parameters[:-at] if at else parameters)
        yield "added query", "&".join([*parameters[:at], *parameters[at + 1 :]])


def _orders(parameters: list[str]) -> Iterator[str]:
    if len(parameters) <= _ALL_SUBSETS:
        yield from map("&".join, permutations(parameters))
        return
    yield "&".join(sorted(parameters))
    yield "&".join(sorted(parameters, key=lambda parameter: parameter.partition("=")[0]))
    for at, parameter in enumerate(parameters[:32]):
        rest = [*parameters[:at], *parameters[at + 1 :]]
        yield "&".join([*rest, parameter])
        yield "&".join([parameter, *rest])
        yield "&".join([*rest[: at + 1], parameter, *rest[at + 1 :]])


def _before_encoding_query(query: str) -> Iterator[str]:
    yield from _rewritten(query, _DOUBLE, "%")
    # A decoded escape must not become a delimiter of parameters.
    yield _TRIPLET.sub(lambda match: match[0] if match[0].upper() in _KEPT else unquote(match[0]), query)
    for triplet in sorted(set(_TRIPLET.findall(query))):
        yield query.replace(triplet, unquote(triplet))


def _before_decoding_query(query: str) -> Iterator[str]:
    for character in sorted(set(_IN_QUERY.findall(query))):
        yield query.replace(character, f"%{ord(character):02X}")
    yield urlencode(parse_qsl(query, keep_blank_values=True), quote_via=quote, safe="")
    yield from _rewritten(query, _PERCENT, "%25")


def _fields(values: SignedValues) -> Iterator[Alternative]:
    lost = values.covered - values.fields.combined.keys()
    content = bytes(values.content)
    digests = (content_digest(content, encoding, algorithms=names) for names, encoding in digest_forms(None))
    for name, texts in (("content-type", _TYPES), ("content-digest", digests)):
        if name in lost:
            for text in texts:
                yield Alternative("lost field", values.with_field(name, text), f"{name}: {text}", f"no {name}")
    for name in sorted(values.covered & values.fields.combined.keys()):
        value = values.fields.combined[name]
        if name == "content-digest":
            yield from _digests(values, value)
        elif len(value) <= _LONGEST_FIELD:
            for change, text in _values_of(name, value, values.fields.values(name)):
                yield Alternative(change, values.with_field(name, text), f"{name}: {text}", f"{name}: {value}")


def _digests(values: SignedValues, declared: str) -> Iterator[Alternative]:
    for value in other_base64(declared):
        yield Alternative("other Base64", values.with_field("content-digest", value), value, declared)
    body = bytes(values.content)
    forms = list(digest_forms(declared))
    for words, content in chain([("the body", body)], islice(other_contents(body), _MOST_CONTENTS)):
        for algorithms, encoding in forms:
            value = content_digest(content, encoding, algorithms=algorithms)
            signed = values.with_field("content-digest", value)
            yield Alternative("other content", signed, f"the digest of {words}", declared)


def _values_of(name: str, value: str, lines: Iterable[str]) -> _Named:
    """Yield what a covered header may have been before it was changed."""
    lines, members, parts = list(lines), _split(value, ","), _split(value, ";")
    joined = [separator.join(lines) for separator in (",", ", ", " , ", ";", "; ", " ", "")]
    joined += [separator.join(members) for separator in (",", ", ", " , ")]
    joined += [_BLANKS.sub(" ", value), *(separator.join(parts) for separator in (";", "; ", " ; "))]
    yield from _named("other header joining", [*joined, ", ".join(reversed(lines))])
    if name == "content-type":
        yield "other Content-Type", parts[0]
        for charset in ("; charset=utf-8", ";charset=utf-8", "; charset=UTF-8", ";charset=UTF-8"):
            yield "other Content-Type", parts[0] + charset
        yield from _named("other Content-Type", _TYPES)
    for several in (lines, members):
        yield from _named("added value", [several[0], several[-1]])
        for at in range(min(len(several), 16)):
            yield "added value", ", ".join([*several[:at], *several[at + 1 :]])
    yield from _named("other case", [value.lower(), value.upper(), value.title()])


def _split(value: str, separator: str) -> list[str]:
    return [one.strip(" \t") for one in value.split(separator)]

"""Variants of the path: octets decoded or encoded, slashes merged or added, a prefix stripped or added."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from undersigned.explanation.variant import Alternative, Variant, rewritten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from undersigned.explanation.values import SignedValues

COMMON_PREFIXES: Final = (
    "/api", "/v1", "/v2", "/api/v1", "/api/v2", "/adcp", "/mcp", "/a2a", "/agent", "/app", "/backend", "/service",
    "/public", "/gateway", "/rest", "/prod", "/dev", "/stage", "/staging",
)  # fmt: skip
"""Prefixes that proxies often strip without naming them in a field. API gateways add the name of a stage."""

PREFIX_FIELDS: Final = ("x-forwarded-prefix", "x-script-name", "x-forwarded-path")
"""Header fields in which proxies name the prefix that they stripped."""

ORIGINAL_FIELDS: Final = (
    "x-original-uri", "x-original-url", "x-forwarded-uri", "x-envoy-original-path", "x-rewrite-url",
)  # fmt: skip
"""Header fields in which proxies name the target before they rewrote it."""

_SLASH: Final = re.compile(r"(?<=.)/")
_SLASHES: Final = re.compile(r"/{2,}")
_RESERVED: Final = re.compile(r"[!$&'()*+,:;=@]")
_PERCENT: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_DOUBLE: Final = re.compile(r"%25(?=[0-9A-Fa-f]{2})")
_ENCODED_SLASH: Final = re.compile(r"%2[Ff]")
_ANY_TRIPLET: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_TRIPLET: Final = re.compile(r"%(?:2[1-9A-Fa-f]|[3-7][0-9A-Fa-f])")
_DECODED: Final = "/!$&'()*+,;=:@"


def _of_path(paths: Callable[[str], Iterable[str]]) -> Callable[[SignedValues], Iterator[Alternative]]:
    """Return the alternatives of a variant whose function takes the received path and yields signed ones."""

    def alternatives(values: SignedValues) -> Iterator[Alternative]:
        for path in paths(values.path):
            if path[:1] == "/":
                yield Alternative(values._replace(path=path), path, values.path)

    return alternatives


def _before_decoding(path: str) -> Iterator[str]:
    yield from rewritten(path, _SLASH, "%2F")
    yield from rewritten(path, _PERCENT, "%25")
    for start in [match.start() for match in _SLASH.finditer(path)][:8]:
        yield path[:start] + quote(path[start:], safe="%")
        yield path[: start + 1] + quote(path[start + 1 :], safe="%")
    yield "/".join([quote(segment, safe="%") for segment in path.split("/")])
    for character in sorted(set(_RESERVED.findall(path))):
        yield path.replace(character, quote(character))
    yield quote(path, safe="/%")


def _before_encoding(path: str) -> Iterator[str]:
    yield from rewritten(path, _ENCODED_SLASH, "/")
    yield from rewritten(path, _DOUBLE, "%")
    decoded = unquote(path, "latin-1")
    yield decoded
    yield quote(decoded, safe=_DECODED, encoding="latin-1", errors="replace")
    for triplet in sorted(set(_TRIPLET.findall(path))):
        yield path.replace(triplet, unquote(triplet))


def _before_merging(path: str) -> Iterator[str]:
    yield from rewritten(path, re.compile("/"), "//")


def _before_adding_slashes(path: str) -> Iterator[str]:
    yield from rewritten(path, _SLASHES, "/")


def _with_other_digits(path: str) -> Iterator[str]:
    yield _ANY_TRIPLET.sub(lambda match: match[0].lower(), path)
    yield _ANY_TRIPLET.sub(lambda match: match[0].upper(), path)


def _before_changing_the_end(path: str) -> Iterator[str]:
    yield path.removesuffix("/") if path.endswith("/") else f"{path}/"


def _before_stripping(values: SignedValues) -> Iterator[Alternative]:
    fields = values.fields.combined
    named = [fields[name].rstrip("/") for name in PREFIX_FIELDS if name in fields]
    for prefix in dict.fromkeys((*named, *values.prefixes, *COMMON_PREFIXES)):
        path = f"{prefix}{values.path}"
        yield Alternative(values._replace(path=path), path, values.path)


def _before_adding(path: str) -> Iterator[str]:
    segments = path.split("/")
    for start in range(2, min(len(segments), 8)):
        yield f"/{'/'.join(segments[start:])}"


def _before_rewriting(values: SignedValues) -> Iterator[Alternative]:
    for name in ORIGINAL_FIELDS:
        target = values.fields.combined.get(name, "")
        path, mark, query = target[
            target.find("/", target.find("://") + len("://")) if "://" in target else 0 :
        ].partition("?")
        if path[:1] == "/":
            signed = values._replace(path=path, query=query if mark else None)
            yield Alternative(signed, f"{path}{mark}{query}", f"{values.path}")


FORWARD: Final = "forward the request target unchanged (nginx: proxy_pass without a path)"

PATH_VARIANTS: Final = (
    Variant(
        "decoded octets", "path",
        f"servers and proxies decode percent-encoded octets: {FORWARD}", _of_path(_before_decoding),
    ),
    Variant(
        "encoded octets", "path",
        "the sender signed the path before its client encoded it, or a proxy encoded it: sign the URL as it is sent",
        _of_path(_before_encoding),
    ),
    Variant(
        "merged slashes", "path",
        f"servers and proxies merge repeated slashes: {FORWARD}, and merge_slashes off", _of_path(_before_merging),
    ),
    Variant(
        "added slashes", "path",
        "a client joined a base URL that ends with a slash and a path that begins with one: sign the URL as it is sent",
        _of_path(_before_adding_slashes),
    ),
    Variant(
        "other case", "path", f"something changed the case of the hex digits: {FORWARD}", _of_path(_with_other_digits)
    ),
    Variant(
        "trailing slash", "path",
        "a redirect, a router or the sender changed the end of the path: sign the URL as it is sent",
        _of_path(_before_changing_the_end),
    ),
    Variant(
        "stripped prefix", "path",
        "a proxy strips the prefix of a mounted path: add the prefix to origins=, or forward the path with it",
        _before_stripping,
    ),
    Variant(
        "added prefix", "path",
        "a proxy or server adds a prefix to the path: remove it from origins=, or forward the path without it",
        _of_path(_before_adding),
    ),
    Variant(
        "rewritten target", "target",
        f"a proxy rewrote the target, and names the original in a header field: {FORWARD}", _before_rewriting,
    ),
)  # fmt: skip
"""The variants of the path, the most likely first."""

"""Content that the sender may have digested in place of what arrived, and digests in another Base64."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from itertools import product
from typing import TYPE_CHECKING, Final

from undersigned.limits import DEFAULT_MAX_BODY
from undersigned.message.content_digest import parse_content_digest
from undersigned.message.strict_json import loads
from undersigned.message.structured_fields import MalformedField

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.message.structured_fields import Encoding

MOST_REWRITTEN: Final = 131_072
"""Bytes of content that are written again: the standard library writes indented JSON in Python, 16 MB a second."""

_ALGORITHMS: Final[tuple[DigestAlgorithm, ...]] = ("sha-256", "sha-512")
_SEQUENCE: Final = re.compile(r":([A-Za-z0-9+/_-]*+)={0,2}:")
_TO_BASE64: Final = str.maketrans("-_", "+/")
_TO_BASE64URL: Final = str.maketrans("+/", "-_")
_STYLES: Final = (
    ("compactly", None, (",", ":")),
    ("with spaces, as json.dumps does", None, (", ", ": ")),
    ("indented by 2", 2, None),
    ("indented by 4", 4, None),
)


def parse_digest(declared: str) -> dict[str, bytes]:
    """Return the digests of a Content-Digest field in either Base64; none if it cannot be read."""
    try:
        return parse_content_digest(declared, "base64", "base64url")
    except MalformedField:
        return {}


def digest_forms(declared: str | None) -> Iterator[tuple[tuple[DigestAlgorithm, ...], Encoding]]:
    """Yield algorithms and encodings in which a digest may have been written, first those of the field as it is."""
    named = () if declared is None else parse_digest(declared)
    first: tuple[DigestAlgorithm, ...] = tuple([name for name in _ALGORITHMS if name in named]) or ("sha-256",)
    # A digest needs padding, so without it the field is in Base64url.
    url = declared is not None and not declared.endswith("=:")
    encodings: tuple[Encoding, ...] = ("base64url", "base64") if url else ("base64", "base64url")
    several: tuple[tuple[DigestAlgorithm, ...], ...] = (first, ("sha-256",), ("sha-512",))
    yield from dict.fromkeys(product(several, encodings))


def other_base64(value: str) -> Iterator[str]:
    """Yield a field value with its byte sequences in each other Base64: either alphabet, with and without padding."""
    bare = _SEQUENCE.sub(lambda match: f":{match[1].translate(_TO_BASE64)}:", value)
    yield _SEQUENCE.sub(lambda match: f":{match[1]}{'=' * (-len(match[1]) % 4)}:", bare)
    yield _SEQUENCE.sub(lambda match: f":{match[1].translate(_TO_BASE64URL)}:", bare)
    yield bare


def other_contents(body: bytes, *, signed_at: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yield other contents that the signer may have digested, each with a description.

    gzip writes the time into its header, so one is tried that was written within two seconds before `signed_at`.
    A body above `MOST_REWRITTEN` bytes is neither compressed nor written as JSON again, because that takes too long.
    """
    yield "an empty body", b""
    yield "the body without its final line end", body.rstrip(b"\r\n")
    yield "the body with LF at its end", body + b"\n"
    yield "the body with CRLF at its end", body + b"\r\n"
    yield "the body with LF instead of CRLF", body.replace(b"\r\n", b"\n")
    yield "the body with CRLF instead of LF", body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    yield from _decompressed(body)
    if len(body) > MOST_REWRITTEN:
        return
    for level in (6, 9, 1):
        for mtime in (0, *range(signed_at, max(0, signed_at - 3), -1)):
            yield "the body compressed with gzip", gzip.compress(body, level, mtime=mtime)
        yield "the body compressed with deflate", zlib.compress(body, level)
    try:
        value = loads(body)
    except ValueError:
        return
    for sort, ascii_only, (style, indent, separators) in product((False, True), (True, False), _STYLES):
        keys = ", with sorted keys" if sort else ""
        escapes = "" if body.isascii() else ", with non-ASCII escaped" if ascii_only else ", with non-ASCII as it is"
        try:
            text = json.dumps(value, ensure_ascii=ascii_only, sort_keys=sort, indent=indent, separators=separators)
        except RecursionError:
            # The standard library reads JSON that is nested more deeply than what it writes.
            return
        yield f"the same JSON written {style}{keys}{escapes}", text.encode("utf-8", "surrogatepass")


def _decompressed(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the content before it was compressed, if it is not larger than a middleware accepts by default."""
    # 32 more than the largest window means either gzip or zlib, as the content says.
    reader = zlib.decompressobj(zlib.MAX_WBITS + 32)
    try:
        content = reader.decompress(body, DEFAULT_MAX_BODY)
    except zlib.error:
        return
    if reader.eof:
        yield "the body before it was compressed", content

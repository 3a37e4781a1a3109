"""Causes of a digest mismatch: the body may have been rewritten after the signer digested it."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING, Final

from undersigned.message.content_digest import ContentDigest
from undersigned.message.strict_json import loads
from undersigned.message.structured_fields import MalformedField

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.message.content_digest import DigestAlgorithm

MOST_REWRITTEN: Final = 131_072
"""Bytes of JSON that are written again: the standard library writes indented JSON in Python, 16 MB a second."""

ALGORITHM_NAMES: Final[tuple[DigestAlgorithm, ...]] = ("sha-256", "sha-512")
"""The digest algorithms in the order in which this package writes them."""

_SEQUENCE: Final = re.compile(r":([A-Za-z0-9+/_-]*+)={0,2}:")
_TO_BASE64: Final = str.maketrans("-_", "+/")
_TO_BASE64URL: Final = str.maketrans("+/", "-_")
_STYLES: Final = (
    ("compactly", None, (",", ":")),
    ("with spaces, as json.dumps does", None, (", ", ": ")),
    ("indented by 2", 2, None),
    ("indented by 4", 4, None),
)


def in_base64(value: str) -> str:
    """Return a field value with its byte sequences in unpadded Base64, from either alphabet."""
    return _SEQUENCE.sub(lambda match: f":{match[1].translate(_TO_BASE64)}:", value)


def is_base64url(value: str) -> bool:
    """Return whether the byte sequences of a field value look like unpadded Base64url: a digest needs padding."""
    return not value.endswith("=:")


def other_base64(value: str) -> Iterator[str]:
    """Yield a field value with its byte sequences in each other Base64: either alphabet, with and without padding."""
    unpadded = in_base64(value)
    spellings = {_pad(unpadded): None, _SEQUENCE.sub(_in_base64url, unpadded): None, unpadded: None}
    yield from (spelling for spelling in spellings if spelling != value)


def _pad(value: str) -> str:
    return _SEQUENCE.sub(lambda match: f":{match[1]}{'=' * (-len(match[1]) % 4)}:", value)


def _in_base64url(match: re.Match[str]) -> str:
    return f":{match[1].translate(_TO_BASE64URL)}:"


def digest_cause(body: bytes, declared: str) -> str:
    """Return the likely reason why the digest of `body` differs from the one in a Content-Digest field.

    The result is empty if the digest matches or no cause is known.
    """
    words = digested_content(body, declared)
    return f"the digest is of {words}; sign exactly the bytes that are sent" if words else digest_fault(declared)


def digest_fault(declared: str) -> str:
    """Return why a Content-Digest field declares no digest, or an empty text if it declares one."""
    try:
        expected = ContentDigest.parse(declared, "base64", "base64url")
    except MalformedField:
        return "Content-Digest is not a dictionary of byte sequences"
    return "" if expected.expected else "Content-Digest contains neither sha-256 nor sha-512"


def digested_content(body: bytes, declared: str) -> str:
    """Return a description of the content that the digest of a Content-Digest field is of, if it is not of `body`.

    The result is empty if the digest is of `body`, if it cannot be read, or if no content is known that it is of.
    """
    try:
        expected = ContentDigest.parse(declared, "base64", "base64url")
    except MalformedField:
        return ""
    if not expected.expected or _matches(expected, body):
        return ""
    return next((words for words, content in other_contents(body) if _matches(expected, content)), "")


def _matches(expected: ContentDigest, content: bytes) -> bool:
    return expected.running_digest(content).matches()


def other_contents(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield other contents that the signer may have digested, each with a description.

    Of a body above `MOST_REWRITTEN` bytes, the same JSON is not written again, because that takes too long.
    """
    yield "an empty body", b""
    yield "the body without its final line end", body.rstrip(b"\r\n")
    yield "the body with LF at its end", body + b"\n"
    yield "the body with CRLF at its end", body + b"\r\n"
    yield "the body with LF instead of CRLF", body.replace(b"\r\n", b"\n")
    yield "the body with CRLF instead of LF", body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if len(body) > MOST_REWRITTEN:
        return
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

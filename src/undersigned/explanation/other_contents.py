"""Content that the sender may have digested in place of what arrived, and digests that are written in another form."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import unicodedata
import zlib
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import parse_qsl, quote, quote_plus, unquote_plus, urlencode

from undersigned.explanation.json_serializers import other_json
from undersigned.limits import DEFAULT_MAX_BODY
from undersigned.message.content_digest import RunningDigest, read_digests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.message.structured_fields import Encoding

MOST_REWRITTEN: Final = 131_072
"""Bytes of content that are written again: the standard library writes indented JSON in Python, 16 MB a second."""

MISSING: Final = ("undefined", "null", "None", "nil", "[object Object]")
"""What languages write for a value that is missing or is no text."""

Described: TypeAlias = "Iterator[tuple[str, bytes]]"
"""Contents, each with a description."""

_ALGORITHMS: Final[tuple[DigestAlgorithm, ...]] = ("sha-256", "sha-512")
_HASHES: Final = ("sha-256", "sha-384", "sha-512", "sha-224", "sha-1", "md5", "sha3-256", "sha3-512")
"""Hashes that senders write, by their names in Content-Digest."""

_SEQUENCE: Final = re.compile(r":([A-Za-z0-9+/_-]*+)={0,2}:")
_WRITTEN: Final = re.compile(r"(?:([A-Za-z0-9-]{2,12})\s*=\s*)?[\"']?(:?)([A-Za-z0-9+/_-]{16,}={0,2})(:?)[\"']?")
_LEAST: Final = 12
_HEXADECIMAL: Final = re.compile(r"(?:[0-9A-Fa-f]{2}){16,}")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{16,}")
_TO_BASE64: Final = str.maketrans("-_", "+/")
_TO_BASE64URL: Final = str.maketrans("+/", "-_")
_TRIPLET: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_FORMS: Final = (
    ("+ for a space", quote_plus, "", "~"),
    ("%20 for a space", quote, "", "~"),
    ("+ for a space, as JavaScript and Java do", quote_plus, "*", "%7E"),
    ("+ for a space, as PHP does", quote_plus, "", "%7E"),
    ("%20 for a space, as encodeURIComponent does", quote, "~()*!'", "~"),
    ("+ for a space and plain brackets", quote_plus, "[]", "~"),
    ("%20 for a space and plain brackets", quote, "[]", "~"),
)
"""How languages write a form: the space, the octets that they leave, and the tilde."""
_SYSTEMS: Final = (3, 0, 255, 10, 11, 19)


def digest_forms(declared: str | None) -> Iterator[tuple[tuple[DigestAlgorithm, ...], Encoding]]:
    """Yield algorithms and encodings in which a digest may have been written, first those of the field as it is."""
    named = () if declared is None else read_digests(declared)
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


def written_digest(declared: str, body: bytes) -> str:
    """Return how a field writes a digest of this content, by any algorithm and in any form, or "" if it has none."""
    names = {name: name.replace("sha-", "sha").replace("-", "_") for name in _HASHES}
    digests = {hashlib.new(name, body, usedforsecurity=False).digest(): known for known, name in names.items()}
    for name, before, text, after in _WRITTEN.findall(declared):
        for form, octets in decoded(text):
            whole = next((one for one in digests if one.startswith(octets) and len(octets) >= _LEAST), b"")
            if whole:
                algorithm, cut = digests[whole], len(octets) < len(whole)
                colons = "" if before and after else ", without colons"
                older = ", as the old field Digest has it" if name == algorithm.upper() else ""
                by = f"{algorithm}{f', under the name {name}' if name and name != algorithm else ''}"
                part = f"the first {len(octets)} bytes of " if cut else ""
                return f"{part}the digest of the body by {by}, {form}{colons}{older}"
    return ""


def decoded(text: str, *, nested: bool = False) -> Described:
    """Yield the bytes that a text may mean, each with the name of its form: hexadecimal or Base64, once or twice."""
    if _HEXADECIMAL.fullmatch(text):
        yield "in hexadecimal", bytes.fromhex(text)
    bare = text.rstrip("=").translate(_TO_BASE64)
    if len(bare) % 4 == 1 or not _BASE64.fullmatch(bare):
        return
    octets = base64.b64decode(f"{bare}{'=' * (-len(bare) % 4)}")
    padding = "" if len(text) % 4 == 0 else " without padding"
    yield f"in Base64{padding}" if text.rstrip("=") == bare else "in Base64url", octets
    if not nested:
        for words, inner in decoded(octets.decode("latin-1").strip(), nested=True):
            yield "in hexadecimal, and that in Base64" if words == "in hexadecimal" else "in Base64 twice", inner


def cut_contents(body: bytes, expected: Mapping[str, bytes]) -> Described:
    """Yield the first bytes of the body that have every expected digest, with a description."""
    running = RunningDigest(expected)
    for at in range(min(len(body), MOST_REWRITTEN)):
        if running.matches(expected):
            yield f"the first {at} bytes of the body", body[:at]
        running.update(body[at : at + 1])


def other_contents(body: bytes, *, signed_at: int = 0) -> Described:
    """Yield other contents that the signer may have digested, each with a description.

    A body above `MOST_REWRITTEN` bytes is neither compressed nor written again, because that takes too long.
    """
    yield "an empty body", b""
    yield "the body without its final line end", body.rstrip(b"\r\n")
    yield "the body with LF at its end", body + b"\n"
    yield "the body with LF at its beginning", b"\n" + body
    yield "the body with CRLF at its end", body + b"\r\n"
    yield "the body with LF instead of CRLF", body.replace(b"\r\n", b"\n")
    yield "the body with CRLF instead of LF", body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    yield "the body without white space at its ends", body.strip()
    yield "the body with a byte order mark (BOM)", b"\xef\xbb\xbf" + body
    yield "the body without its byte order mark (BOM)", body.removeprefix(b"\xef\xbb\xbf")
    yield from _decompressed(body)
    if len(body) > MOST_REWRITTEN:
        return
    yield from ((words, text.encode("utf-8", "surrogatepass")) for words, text in other_json(body))
    yield from _text(body)
    yield "the Base64 of the body", base64.b64encode(body)
    yield "the hexadecimal form of the body", body.hex().encode()
    yield "the SHA-256 of the body", hashlib.sha256(body).digest()
    yield "the SHA-256 of the body in hexadecimal", hashlib.sha256(body).hexdigest().encode()
    for words in ("{}", "[]", '""', *MISSING):
        yield f"{words} in place of the body", words.encode()
    for level in (6, 9, 1):
        # gzip writes the time into its header: one within the last two seconds before `signed_at`, or none.
        for mtime in (0, *range(signed_at, max(0, signed_at - 3), -1)):
            octets = gzip.compress(body, level, mtime=mtime)
            # Octet 9 names the operating system, which each library writes as it likes (RFC 1952 section 2.3.1).
            yield from (
                ("the body compressed with gzip", b"%b%c%b" % (octets[:9], system, octets[10:])) for system in _SYSTEMS
            )
        yield "the body compressed with deflate", zlib.compress(body, level)


def _text(body: bytes) -> Described:
    """Yield the body as another charset, normalization or form has it."""
    with suppress(ValueError):
        text = body.decode("utf-8")
        for charset in ("latin-1", "cp1252", "iso-8859-15", "utf-16-le", "utf-16-be", "utf-16"):
            with suppress(ValueError):
                yield f"the body in {charset} in place of UTF-8", text.encode(charset)
        yield "the body with ? for each non-ASCII character", text.encode("ascii", "replace")
        yield "the body without its non-ASCII characters", text.encode("ascii", "ignore")
        for form in ("NFC", "NFD"):
            yield f"the body in Unicode's form {form}", unicodedata.normalize(form, text).encode()
        yield "the body as a JSON string", json.dumps(text).encode()
        yield "the body as a JSON string", json.dumps(text, ensure_ascii=False).encode()
    for charset in ("latin-1", "cp1252"):
        with suppress(ValueError):
            yield f"the body in UTF-8, read as {charset} and written again", body.decode(charset).encode()
    if b"=" not in body or not body.isascii():
        return
    form = body.decode("ascii")
    yield "the form with %20 for +", form.replace("+", "%20").encode()
    yield "the form with + for %20", form.replace("%20", "+").encode()
    yield "the form with its escapes in lower case", _TRIPLET.sub(lambda triplet: triplet[0].lower(), form).encode()
    pairs = parse_qsl(form, keep_blank_values=True)
    for sort, (words, encode, safe, tilde) in product((False, True), _FORMS):
        keys = ", with sorted names" if sort else ""
        text = urlencode(sorted(pairs) if sort else pairs, quote_via=encode, safe=safe).replace("~", tilde)
        yield f"the form written again with {words}{keys}", text.encode()
    yield "the form, decoded", unquote_plus(form).encode()


def _decompressed(body: bytes) -> Described:
    """Yield the content before it was compressed, if it is not larger than a middleware accepts by default."""
    # 32 more than the largest window means either gzip or zlib, as the content says; less than 0, deflate alone.
    for window in (zlib.MAX_WBITS + 32, -zlib.MAX_WBITS):
        reader = zlib.decompressobj(window)
        try:
            content = reader.decompress(body, DEFAULT_MAX_BODY)
        except zlib.error:
            continue
        if reader.eof:
            yield "the body before it was compressed", content

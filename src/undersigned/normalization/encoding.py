"""Rules for percent-encoding outside the path, for IRIs and for whole texts. Signatures do not use them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.host import lower_ascii
from undersigned.url.parts import URL
from undersigned.url.path import upper_triplets
from undersigned.url.rule import rule

if TYPE_CHECKING:
    from collections.abc import Callable

_ELSEWHERE: Final = ("host", "query", "fragment")
_ALL_BUT_USERINFO: Final = ("host", "path", "query", "fragment")
_ALL: Final = ("userinfo", *_ALL_BUT_USERINFO)
_AFTER_THE_SCHEME: Final = ("userinfo", "host", "port", "path", "query", "fragment")

_TRIPLET: Final = re.compile(r"(%[0-9A-Fa-f]{2})")
# Not after the rest of a broken triplet: together they would read as a new triplet.
_UNRESERVED_TRIPLET: Final = re.compile(
    r"%(?<!%%)(?<!%[0-9A-Fa-f]%)(?:2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe])"
)
_TRIPLETS: Final = re.compile(r"(?>(?:%[0-9A-Fa-f]{2})+)")
_NON_ASCII_TRIPLETS: Final = re.compile(r"(?>(?:%[89A-Fa-f][0-9A-Fa-f])+)")
_NON_ASCII: Final = re.compile(r"[^\x00-\x7f]++")
# A percent sign without its digits, and every character that is neither unreserved nor reserved (RFC 3986 section 2).
# Inside a part, `#` is not a delimiter.
_NOT_ALLOWED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]++")
_BETWEEN_WORDS: Final = re.compile(r"(%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~\x80-\U0010ffff-])")
_UNDECODABLE: Final = re.compile(r"[\udc80-\udcff]")
_MOST_MARKS: Final = 30
_WORD: Final = re.compile(r"[A-Za-z0-9._~\x80-\U0010ffff-]*+")


def encode(text: str) -> str:
    """Return the percent triplets of the UTF-8 of `text` (RFC 3987 section 3.1).

    Raises:
        UnicodeEncodeError: `text` contains a lone surrogate.
    """
    return "".join([f"%{octet:02X}" for octet in text.encode("utf-8")])


def decode(triplets: str) -> str:
    """Return the text that percent triplets encode as UTF-8. Octets that are not valid UTF-8 stay encoded."""
    text = bytes.fromhex(triplets.replace("%", "")).decode("utf-8", "surrogateescape")
    return _UNDECODABLE.sub(lambda octet: f"%{ord(octet[0]) - 0xDC00:02X}", text)


def decode_non_ascii(text: str) -> str:
    """Return `text` with the triplets of non-ASCII characters decoded."""
    return _NON_ASCII_TRIPLETS.sub(lambda run: decode(run[0]), text)


def decode_unreserved(text: str) -> str:
    """Return `text` with the triplets of unreserved characters decoded (RFC 3986 section 6.2.2.2)."""
    return _UNRESERVED_TRIPLET.sub(lambda triplet: chr(int(triplet[0][1:], 16)), text)


@rule("host-case", source="AdCP step 2; RFC 3986 section 6.2.2.1", preserves="always")
def host_case(url: URL) -> URL:
    """Put the ASCII letters of the host in lower case."""
    if url.host is None:
        return url
    pieces = _TRIPLET.split(url.host)
    pieces[::2] = map(lower_ascii, pieces[::2])
    host = "".join(pieces)
    return url if host == url.host else url._replace(host=host)


@rule("unreserved", source="AdCP step 6; RFC 3986 section 6.2.2.2", preserves="always")
def unreserved(url: URL) -> URL:
    """Decode the percent-encoded letters, digits, `-`, `.`, `_` and `~` of the path."""
    return _over(url, ("path",), decode_unreserved)


@rule("hex-case-elsewhere", source="RFC 3986 section 6.2.2.1", preserves="always")
def hex_case_elsewhere(url: URL) -> URL:
    """Put the digits of percent triplets in host, query and fragment in upper case."""
    return _over(url, _ELSEWHERE, upper_triplets)


@rule("hex-case-userinfo", source="RFC 3986 section 6.2.2.1", preserves="always")
def hex_case_userinfo(url: URL) -> URL:
    """Put the digits of percent triplets in the user info in upper case."""
    return _over(url, ("userinfo",), upper_triplets)


@rule("unreserved-elsewhere", source="RFC 3986 section 6.2.2.2", preserves="always")
def unreserved_elsewhere(url: URL) -> URL:
    """Decode the percent-encoded unreserved characters of host, query and fragment."""
    return _over(url, _ELSEWHERE, decode_unreserved)


@rule("unreserved-userinfo", source="RFC 3986 section 6.2.2.2", preserves="always")
def unreserved_userinfo(url: URL) -> URL:
    """Decode the percent-encoded unreserved characters of the user info."""
    return _over(url, ("userinfo",), decode_unreserved)


@rule("iri-to-uri", source="IRI draft section 4.2.3; RFC 3987 section 3.1", preserves="always")
def iri_to_uri(url: URL) -> URL:
    """Percent-encode non-ASCII as UTF-8 without normalizing the characters."""
    try:
        return _over(url, _ALL, lambda part: _NON_ASCII.sub(lambda run: encode(run[0]), part))
    except UnicodeEncodeError:
        raise _surrogate(iri_to_uri.name) from None


@rule("escape", source="Atom post, Reserved Characters and Path Segments; RFC 3986 section 2", preserves="usually")
def escape(url: URL) -> URL:
    """Percent-encode characters that are not allowed in a URI, such as a backslash; the user info stays."""
    try:
        return _over(url, _ALL_BUT_USERINFO, lambda part: _NOT_ALLOWED.sub(lambda run: encode(run[0]), part))
    except UnicodeEncodeError:
        raise _surrogate(escape.name) from None


@rule("nfc", source="Atom post (UTF-8 normalisation); RFC 4287 section 4.2.6.1", preserves="usually")
def nfc(url: URL) -> URL:
    """Compose characters and their combining marks (NFC), encoded or not; the user info stays."""
    return _over(url, _ALL_BUT_USERINFO, _compose)


@rule("decode-all", source="POWDER mail", preserves="never")
def decode_all(url: URL) -> URL:
    """Decode every percent triplet, including encoded delimiters, and parse the text again."""
    text = str(url)
    return URL.parse(_TRIPLETS.sub(lambda run: decode(run[0]), text)) if "%" in text else url


@rule("plus-as-space", source="POWDER mail", preserves="never")
def plus_as_space(url: URL) -> URL:
    """Replace each '+' after the scheme by a space."""
    # A scheme such as svn+ssh cannot contain a space (RFC 3986 section 3.1).
    return _over(url, _AFTER_THE_SCHEME, lambda part: part.replace("+", " "))


def _compose(part: str) -> str:
    # Delimiters are not composed: `=` followed by a combining solidus would become one letter.
    text = decode_non_ascii(part)
    if text.isascii():
        return part
    words = _BETWEEN_WORDS.split(text)
    for at in range(0, len(words), 2):
        if _is_stream_safe(words[at]) and _WORD.fullmatch(composed := unicodedata.normalize("NFC", words[at])):
            words[at] = composed
    text = "".join(words)
    return _NON_ASCII.sub(lambda run: encode(run[0]), text) if part.isascii() else text


def _is_stream_safe(word: str) -> bool:
    """Return whether each letter has at most 30 combining marks, more than any language uses (UAX 15 section 13).

    Sorting the marks takes time in the square of their number.
    """
    marks = 0
    for char in word:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks > _MOST_MARKS:
            return False
    return True


def _over(url: URL, parts: tuple[str, ...], change: Callable[[str], str]) -> URL:
    changed: dict[str, str] = {}
    for part in parts:
        before: str | None = getattr(url, part)
        if before and (after := change(before)) != before:
            changed[part] = after
    return url._replace(**changed) if changed else url


def _surrogate(name: str) -> MalformedURL:
    return MalformedURL("the URL contains a lone surrogate, which UTF-8 cannot encode; remove it", rule=name)

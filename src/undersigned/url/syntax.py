"""Rules for the URL as a whole: its characters, its scheme, its fragment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.rule import quote, rule

if TYPE_CHECKING:
    from undersigned.url.value import URL

_FORBIDDEN: Final = re.compile(r"[^!-\[\]-~]")


@rule("characters", source="RFC 3986 section 2", preserves="always")
def characters(url: URL) -> URL:
    """Reject control characters, spaces, backslashes and non-ASCII outside the host."""
    # Each parser drops, encodes or reinterprets these characters in its own way, so no repair is safe. The host has its
    # own rules. An absent part appears as the text `None` here, which is harmless.
    text = f"{url.scheme}{url.userinfo}{url.port}{url.path}{url.query}{url.fragment}"
    if text.isascii() and text.isprintable() and " " not in text and "\\" not in text:
        return url
    outside = {part: written or "" for part, written in zip(url._fields, url, strict=True) if part != "host"}
    part, char = next((part, char) for part, written in outside.items() for char in _FORBIDDEN.findall(written))
    raise MalformedURL(
        f"the {part} contains U+{ord(char):04X}, which is not allowed in a URL; percent-encode it",
        rule=characters.name,
    )


@rule("scheme-case", source="AdCP step 1; RFC 3986 section 6.2.2.1", preserves="always")
def scheme_case(url: URL) -> URL:
    """Put the scheme in lower case."""
    if url.scheme is None or url.scheme == (lower := url.scheme.lower()):
        return url
    return url._replace(scheme=lower)


@rule("web-scheme", source="AdCP step 1; RFC 9110 section 4.2", preserves="always")
def web_scheme(url: URL) -> URL:
    """Reject a scheme that is missing or neither http nor https."""
    if url.scheme in {"https", "http"}:
        return url
    if url.scheme is None:
        raise MalformedURL("the scheme is missing; start the URL with 'https://' or 'http://'", rule=web_scheme.name)
    raise MalformedURL(f"the scheme {quote(url.scheme)} is neither http nor https", rule=web_scheme.name)


@rule("fragment", source="AdCP step 8; RFC 9421 section 2.2.2", preserves="never")
def fragment(url: URL) -> URL:
    """Remove the fragment, which is never sent."""
    return url if url.fragment is None else url._replace(fragment=None)

"""Rules for a URL's characters, scheme, user info, port and fragment; `host` has those for the host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.rule import quote, rule

if TYPE_CHECKING:
    from undersigned.url.parts import URL

_FORBIDDEN: Final = re.compile(r"[^!-\[\]-~]")
DEFAULT_PORTS: Final = frozenset({("https", "443"), ("http", "80")})  # RFC 9110 section 4.2
_HIGHEST_PORT: Final = 65535


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


@rule("authority", source="AdCP step 3; RFC 3986 section 3.2", preserves="always")
def authority(url: URL) -> URL:
    """Reject an authority without a host, with two `@`, or with brackets before the `@`."""
    if not url.host:
        found = "no authority" if url.host is None else "an authority without a host"
        raise MalformedURL(f"the URL has {found}; write it like 'https://host/path'", rule=authority.name)
    # The user info may be a password, so no message repeats it.
    if url.userinfo:
        if "@" in url.userinfo:
            raise MalformedURL(
                "the authority contains more than one '@'; percent-encode the others", rule=authority.name
            )
        if "[" in url.userinfo or "]" in url.userinfo:
            raise MalformedURL("the user info contains a bracket; percent-encode it", rule=authority.name)
    return url


@rule("userinfo", source="AdCP step 3; RFC 9110 section 4.2.4", preserves="never")
def userinfo(url: URL) -> URL:
    """Remove the user info."""
    return url if url.userinfo is None else url._replace(userinfo=None)


@rule("port-number", source="AdCP step 4; RFC 3986 section 6.2.3", preserves="always")
def port_number(url: URL) -> URL:
    """Write the port as a number from 0 to 65535 without leading zeros; remove an empty port with its colon."""
    port = url.port
    if port is None:
        return url
    if not port:
        return url._replace(port=None)
    if not (port.isascii() and port.isdigit()):
        raise MalformedURL(f"the port {quote(port)} is not a number", rule=port_number.name)
    # Bound the length before `int()`: the sender chooses how long the port is.
    number = port.lstrip("0") or "0"
    if len(number) > len(str(_HIGHEST_PORT)) or int(number) > _HIGHEST_PORT:
        raise MalformedURL(f"the port {quote(port)} is above {_HIGHEST_PORT}", rule=port_number.name)
    return url if number == port else url._replace(port=number)


@rule("default-port", source="AdCP step 4; RFC 3986 section 6.2.3", preserves="always")
def default_port(url: URL) -> URL:
    """Remove the scheme's default port, such as 443 for https and 80 for http."""
    return url._replace(port=None) if (url.scheme, url.port) in DEFAULT_PORTS else url


@rule("fragment", source="AdCP step 8; RFC 9421 section 2.2.2", preserves="never")
def fragment(url: URL) -> URL:
    """Remove the fragment, which is never sent."""
    return url if url.fragment is None else url._replace(fragment=None)

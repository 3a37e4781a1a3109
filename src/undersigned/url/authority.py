"""Rules for the authority apart from the host: its structure, the user info, the port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.rule import quote, rule

if TYPE_CHECKING:
    from undersigned.url.value import URL

DEFAULT_PORTS: Final = frozenset({("https", "443"), ("http", "80"), ("wss", "443"), ("ws", "80"), ("ftp", "21")})
"""Pairs of scheme and default port, as text (RFC 9110 section 4.2, RFC 6455, RFC 1738)."""

_HIGHEST_PORT: Final = 65535


def without_port(url: URL) -> URL:
    """Return `url` without its port and the colon before it.

    The port stays if a malformed host contains a colon: the text after that colon would become the port.
    """
    host = url.host or ""
    return url if ":" in host and host[-1] != "]" else url._replace(port=None)


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
    return without_port(url) if (url.scheme, url.port) in DEFAULT_PORTS else url

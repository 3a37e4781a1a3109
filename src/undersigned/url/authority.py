"""Rules on the authority around the host: its shape, the user info, the port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.rule import rule, shown

if TYPE_CHECKING:
    from undersigned.url.value import URL

DEFAULT_PORTS: Final = frozenset({("https", "443"), ("http", "80"), ("wss", "443"), ("ws", "80"), ("ftp", "21")})
"""Scheme and port, as text, where the port goes without saying (RFC 9110 section 4.2, RFC 6455, RFC 1738)."""

_HIGHEST_PORT: Final = 65535


def without_port(url: URL) -> URL:
    """Return `url` without its port and the colon before it.

    A malformed host with a colon of its own keeps them: what stands behind that colon would be read as a port next.
    """
    host = url.host or ""
    return url if ":" in host and host[-1] != "]" else url._replace(port=None)


@rule("authority", source="AdCP step 3; RFC 3986 section 3.2", preserves="always")
def authority(url: URL) -> URL:
    """Refuse an authority without a host, with two `@`, or with brackets before the `@`."""
    if not url.host:
        found = "no authority" if url.host is None else "an authority without a host"
        raise MalformedURL(f"the URL has {found}", rule=authority.name)
    # The user info itself may be a password: no message repeats it.
    if url.userinfo:
        if "@" in url.userinfo:
            raise MalformedURL("the authority contains more than one '@'", rule=authority.name)
        if "[" in url.userinfo or "]" in url.userinfo:
            raise MalformedURL("the user info contains a bracket", rule=authority.name)
    return url


@rule("userinfo", source="AdCP step 3; RFC 9110 section 4.2.4", preserves="never")
def userinfo(url: URL) -> URL:
    """Remove the user info."""
    return url if url.userinfo is None else url._replace(userinfo=None)


@rule("port-number", source="AdCP step 4; RFC 3986 section 6.2.3", preserves="always")
def port_number(url: URL) -> URL:
    """Read the port as a number from 0 to 65535, without leading zeros; drop an empty one with its colon."""
    port = url.port
    if port is None:
        return url
    if not port:
        return url._replace(port=None)
    if not (port.isascii() and port.isdigit()):
        raise MalformedURL(f"the port {shown(port)} is not a number", rule=port_number.name)
    # Cut before `int()` sees it: a port is as long as its sender likes.
    number = port.lstrip("0") or "0"
    if len(number) > len(str(_HIGHEST_PORT)) or int(number) > _HIGHEST_PORT:
        raise MalformedURL(f"the port {shown(port)} is above {_HIGHEST_PORT}", rule=port_number.name)
    return url if number == port else url._replace(port=number)


@rule("default-port", source="AdCP step 4; RFC 3986 section 6.2.3", preserves="always")
def default_port(url: URL) -> URL:
    """Remove the port that goes without saying: 443 of https, 80 of http, and so on."""
    return without_port(url) if (url.scheme, url.port) in DEFAULT_PORTS else url

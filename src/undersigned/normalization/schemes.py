"""Rules that follow from the definition of a scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.normalization.encoding import decode_non_ascii
from undersigned.url.host import lower_ascii, to_ascii
from undersigned.url.rule import rule

if TYPE_CHECKING:
    from undersigned.url.parts import URL

_DEFAULT_PORTS: Final = frozenset({("https", "443"), ("http", "80"), ("wss", "443"), ("ws", "80"), ("ftp", "21")})
"""Pairs of scheme and default port, as text (RFC 9110 section 4.2, RFC 6455, RFC 1738)."""

_DNS: Final = frozenset(scheme for scheme, _ in _DEFAULT_PORTS)


@rule("empty-port", source="IRI draft section 4.3; RFC 3986 section 6.2.3", preserves="always")
def empty_port(url: URL) -> URL:
    """Remove the colon of an empty port."""
    return _without_port(url) if url.port == "" else url


@rule("default-port", source="AdCP step 4; RFC 3986 section 6.2.3", preserves="always")
def default_port(url: URL) -> URL:
    """Remove the scheme's default port, such as 443 for https and 80 for http."""
    return _without_port(url) if (url.scheme, url.port) in _DEFAULT_PORTS else url


@rule("host-dots", source="POWDER mail", preserves="usually")
def host_dots(url: URL) -> URL:
    """Remove all trailing dots of the host."""
    return url._replace(host=url.host.rstrip(".")) if url.host and url.host[-1] == "." else url


@rule("idn", source="IRI draft section 4.3; UTS 46 section 4.2", preserves="always")
def idn(url: URL) -> URL:
    """Convert a valid DNS name with U-labels, also percent-encoded ones, to A-labels."""
    if url.scheme not in _DNS or not url.host:
        return url
    name = decode_non_ascii(url.host)
    if name.isascii():
        return url
    try:
        return url._replace(host=lower_ascii(to_ascii(name)))
    except UnicodeError:
        # The name cannot be resolved, but it still identifies itself.
        return url


@rule("default-authority", source="IRI draft section 4.3; RFC 8089 section 2 and appendix B", preserves="always")
def default_authority(url: URL) -> URL:
    """Empty the authority of a file URL that means this host."""
    if url.scheme != "file" or (url.userinfo, url.port) != (None, None):
        return url
    if url.host == "localhost":
        return url._replace(host="")
    if url.host is None and url.path[:1] == "/":
        # The dot kept two slashes from being read as an authority. With an authority it is not needed.
        return url._replace(host="", path=url.path[2:] if url.path.startswith("/.//") else url.path)
    return url


@rule("mailto-domain", source="RFC 3986 section 6.2.3; RFC 6068 section 2", preserves="always")
def mailto_domain(url: URL) -> URL:
    """Put the domains of a mailto URL's addresses in lower case; the local parts stay."""
    if url.scheme != "mailto":
        return url
    path = ",".join([_address(address) for address in url.path.split(",")])
    return url if path == url.path else url._replace(path=path)


@rule("urn-namespace", source="RFC 8141 section 3.1", preserves="always")
def urn_namespace(url: URL) -> URL:
    """Put the namespace identifier of a urn in lower case; the rest stays."""
    if url.scheme != "urn":
        return url
    namespace, colon, rest = url.path.partition(":")
    path = f"{lower_ascii(namespace)}{colon}{rest}"
    return url if path == url.path else url._replace(path=path)


def _address(address: str) -> str:
    local, at, domain = address.rpartition("@")
    return f"{local}{at}{lower_ascii(domain)}" if at else address


def _without_port(url: URL) -> URL:
    """Return `url` without its port and the colon before it.

    The port stays if a malformed host contains a colon: the text after that colon would become the port.
    """
    host = url.host or ""
    return url if ":" in host and host[-1] != "]" else url._replace(port=None)

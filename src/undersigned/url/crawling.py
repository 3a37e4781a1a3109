"""Rules that crawlers use to find duplicates: they guess, and all but one may change what a URL identifies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.host import is_address
from undersigned.url.rule import family, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from undersigned.url.value import URL

DIRECTORY_INDEXES: Final = frozenset(
    {"index.html", "index.htm", "index.php", "default.asp", "default.aspx", "default.htm"}
)
"""Names that servers commonly give to what they answer for a directory."""

_WEB: Final = frozenset({"https", "http"})
_SLASHES: Final = re.compile(r"/{2,}+")
_WWW: Final = "www."


@rule("trailing-slash", source="Wikipedia, Adding a trailing '/'; IRI draft section 4.4", preserves="usually")
def trailing_slash(url: URL) -> URL:
    """End the path of an http or https URL with a slash; right where a redirect was seen to do so."""
    if url.scheme not in _WEB or not url.path or url.path[-1] == "/":
        return url
    return url._replace(path=f"{url.path}/")


@family("directory-index", source="Wikipedia, Removing directory index", preserves="never")
def directory_index(names: Collection[str]) -> Callable[[URL], URL]:
    """Remove the last segment of the path where it is one of some names, such as index.html."""
    indexes = frozenset(names)

    def apply(url: URL) -> URL:
        before, slash, last = url.path.rpartition("/")
        return url._replace(path=before + slash) if slash and last in indexes else url

    return apply


@rule("single-slashes", source="Wikipedia, Removing duplicate slashes", preserves="never")
def single_slashes(url: URL) -> URL:
    """Make one slash of several in a row."""
    return url._replace(path=_SLASHES.sub("/", url.path)) if "//" in url.path else url


@rule("no-www", source="Wikipedia, Removing or adding 'www'", preserves="never")
def no_www(url: URL) -> URL:
    """Remove the first label of the host where it is www and two more follow."""
    host = url.host or ""
    return url._replace(host=host[len(_WWW) :]) if _has_www(host) and host.count(".") > 1 else url


@rule("www", source="Wikipedia, Removing or adding 'www'", preserves="never")
def www(url: URL) -> URL:
    """Put www in front of a host name of two labels or more."""
    host = url.host or ""
    return url if "." not in host or _has_www(host) or is_address(host) else url._replace(host=_WWW + host)


@rule("http-only", source="Wikipedia, Limiting protocols", preserves="never")
def http_only(url: URL) -> URL:
    """Make https http."""
    return url._replace(scheme="http") if url.scheme == "https" else url


@rule("https-only", source="Grokipedia, Scheme conversion", preserves="never")
def https_only(url: URL) -> URL:
    """Make http https."""
    return url._replace(scheme="https") if url.scheme == "http" else url


@rule("address-to-name", source="Wikipedia, Replacing IP with domain name", preserves="never")
def address_to_name(url: URL) -> URL:
    """Refuse a host that is an IP address: the name that maps to it is DNS's to say, and no static rule's."""
    if url.host and is_address(url.host):
        raise MalformedURL(
            "the name of an IP address takes a look-up, which a rule does not make", rule=address_to_name.name
        )
    return url


@rule("name-to-address", source="Wikipedia, Replacing IP with domain name (the reverse)", preserves="never")
def name_to_address(url: URL) -> URL:
    """Refuse a host that is a name: its addresses are DNS's to say, they change, and several hosts share one."""
    if url.host and not is_address(url.host):
        raise MalformedURL(
            "the address of a host takes a look-up, which a rule does not make", rule=name_to_address.name
        )
    return url


def _has_www(host: str) -> bool:
    return host[: len(_WWW)].lower() == _WWW

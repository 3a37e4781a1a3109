"""Rules that crawlers use to find duplicate URLs. They guess: all but one may change what a URL identifies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.host import is_address
from undersigned.url.rule import family, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

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


@rule("sorted-query", source="Wikipedia, Sorting the query parameters", preserves="never")
def sorted_query(url: URL) -> URL:
    """Sort the parameters by name; those of one name keep their order."""
    return _keep(url, lambda parameters: sorted(parameters, key=_name))


@family("unused-parameters", source="Wikipedia, Removing unused query variables", preserves="never")
def unused_parameters(expected: Collection[str]) -> Callable[[URL], URL]:
    """Remove the parameters whose names are not among those a page expects."""
    names = frozenset(expected)
    return lambda url: _keep(url, lambda parameters: [one for one in parameters if _name(one) in names])


@family("default-parameters", source="Wikipedia, Removing default query parameters", preserves="never")
def default_parameters(defaults: Mapping[str, str]) -> Callable[[URL], URL]:
    """Remove the parameters that say what would hold without them."""
    said = frozenset(f"{name}={value}" for name, value in defaults.items())
    return lambda url: _keep(url, lambda parameters: [one for one in parameters if one not in said])


@rule("empty-query", source="Wikipedia, Removing the '?' when the query is empty", preserves="never")
def empty_query(url: URL) -> URL:
    """Remove the question mark of an empty query."""
    return url._replace(query=None) if url.query == "" else url


def _keep(url: URL, choose: Callable[[list[str]], list[str]]) -> URL:
    """Return `url` with the parameters that `choose` returns, without its question mark where none is left."""
    if not url.query:
        return url
    parameters = url.query.split("&")
    kept = choose(parameters)
    return url if kept == parameters else url._replace(query="&".join(kept) if kept else None)


def _name(parameter: str) -> str:
    return parameter.partition("=")[0]

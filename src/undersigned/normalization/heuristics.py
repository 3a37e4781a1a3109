"""Rules that crawlers use to find duplicate URLs. They guess: all but one may change the meaning of a URL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.url.host import is_address
from undersigned.url.rule import Rule, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from undersigned.url.parts import URL

DIRECTORY_INDEXES: Final = frozenset(
    {"index.html", "index.htm", "index.php", "default.asp", "default.aspx", "default.htm"}
)
"""Names that servers commonly give to the page of a directory."""

_WEB: Final = frozenset({"https", "http"})
_SLASHES: Final = re.compile(r"/{2,}+")
_WWW: Final = "www."


@rule("trailing-slash", source="Wikipedia, Adding a trailing '/'; IRI draft section 4.4", preserves="usually")
def trailing_slash(url: URL) -> URL:
    """End the path of an http or https URL with a slash; correct if the server redirects to that URL."""
    if url.scheme not in _WEB or not url.path or url.path[-1] == "/":
        return url
    return url._replace(path=f"{url.path}/")


def directory_index(names: Collection[str]) -> Rule:
    """Return the rule that removes the last segment of the path if it is one of `names`."""
    indexes = frozenset(names)

    def apply(url: URL) -> URL:
        """Remove the last segment of the path if it is one of the given names, such as index.html."""
        before, slash, last = url.path.rpartition("/")
        return url._replace(path=before + slash) if slash and last in indexes else url

    return Rule("directory-index", "Wikipedia, Removing directory index", "never", apply)


@rule("single-slashes", source="Wikipedia, Removing duplicate slashes", preserves="never")
def single_slashes(url: URL) -> URL:
    """Replace several slashes in a row by one."""
    return url._replace(path=_SLASHES.sub("/", url.path)) if "//" in url.path else url


@rule("no-www", source="Wikipedia, Removing or adding 'www'", preserves="never")
def no_www(url: URL) -> URL:
    """Remove the first label of the host if it is www and two more labels follow."""
    host = url.host or ""
    return url._replace(host=host[len(_WWW) :]) if _has_www(host) and host.count(".") > 1 else url


@rule("www", source="Wikipedia, Removing or adding 'www'", preserves="never")
def www(url: URL) -> URL:
    """Put www in front of a host name of at least two labels."""
    host = url.host or ""
    return url if "." not in host or _has_www(host) or is_address(host) else url._replace(host=_WWW + host)


@rule("http-only", source="Wikipedia, Limiting protocols", preserves="never")
def http_only(url: URL) -> URL:
    """Change https to http."""
    return url._replace(scheme="http") if url.scheme == "https" else url


@rule("https-only", source="Grokipedia, Scheme conversion", preserves="never")
def https_only(url: URL) -> URL:
    """Change http to https."""
    return url._replace(scheme="https") if url.scheme == "http" else url


@rule("address-to-name", source="Wikipedia, Replacing IP with domain name", preserves="never")
def address_to_name(url: URL) -> URL:
    """Reject a host that is an IP address: only a DNS lookup finds its name."""
    if url.host and is_address(url.host):
        raise MalformedURL(
            "the host is an IP address, and rules make no DNS lookup to find its name; write the name",
            rule=address_to_name.name,
        )
    return url


@rule("name-to-address", source="Wikipedia, Replacing IP with domain name (the reverse)", preserves="never")
def name_to_address(url: URL) -> URL:
    """Reject a host that is a name: only a DNS lookup finds its addresses, which change and may be shared."""
    if url.host and not is_address(url.host):
        raise MalformedURL(
            "the host is a name, and rules make no DNS lookup to find its address; write the address",
            rule=name_to_address.name,
        )
    return url


def _has_www(host: str) -> bool:
    return host[: len(_WWW)].lower() == _WWW


@rule("sorted-query", source="Wikipedia, Sorting the query parameters", preserves="never")
def sorted_query(url: URL) -> URL:
    """Sort the parameters by name; parameters with equal names keep their order."""
    return _replace_parameters(url, lambda parameters: sorted(parameters, key=_name))


def unused_parameters(expected: Collection[str]) -> Rule:
    """Return the rule that removes the parameters that have none of the names `expected`."""
    names = frozenset(expected)

    def apply(url: URL) -> URL:
        """Remove the parameters that have none of the given names."""
        return _replace_parameters(url, lambda parameters: [one for one in parameters if _name(one) in names])

    return Rule("unused-parameters", "Wikipedia, Removing unused query variables", "never", apply)


def default_parameters(defaults: Mapping[str, str]) -> Rule:
    """Return the rule that removes the parameters that have their default values, given by name."""
    written = frozenset(f"{name}={value}" for name, value in defaults.items())

    def apply(url: URL) -> URL:
        """Remove the parameters that have their default values."""
        return _replace_parameters(url, lambda parameters: [one for one in parameters if one not in written])

    return Rule("default-parameters", "Wikipedia, Removing default query parameters", "never", apply)


@rule("empty-query", source="Wikipedia, Removing the '?' when the query is empty", preserves="never")
def empty_query(url: URL) -> URL:
    """Remove the question mark of an empty query."""
    return url._replace(query=None) if url.query == "" else url


def _replace_parameters(url: URL, choose: Callable[[list[str]], list[str]]) -> URL:
    """Return `url` with the parameters that `choose` returns, without a question mark if there are none."""
    if not url.query:
        return url
    parameters = url.query.split("&")
    chosen = choose(parameters)
    return url if chosen == parameters else url._replace(query="&".join(chosen) if chosen else None)


def _name(parameter: str) -> str:
    return parameter.partition("=")[0]

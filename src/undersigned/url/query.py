"""Rules on the query and its parameters. What a parameter means is the server's to say, so each may be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.url.rule import family, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from undersigned.url.value import URL


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

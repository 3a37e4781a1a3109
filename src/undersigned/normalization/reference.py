"""Rules for relative references and for references without a scheme."""

from __future__ import annotations

import re
from typing import Final

from undersigned.errors import ConfigurationError, MalformedURL
from undersigned.url.parts import URL
from undersigned.url.path import has_dot_segments, remove_dot_segments
from undersigned.url.rule import Rule, quote, rule

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+")
_PORT: Final = re.compile(r"[0-9]*+(?=/|$)")


@rule("absolute", source="IRI draft section 2; RFC 3986 section 6.1", preserves="always")
def absolute(url: URL) -> URL:
    """Reject a relative reference: its target depends on the base."""
    if url.scheme is None:
        raise MalformedURL("the reference is relative; resolve it against its base first", rule=absolute.name)
    if _SCHEME.fullmatch(url.scheme):
        return url
    raise MalformedURL(
        f"{quote(url.scheme)} is not a scheme: expected a letter, then letters, digits, '+', '-' or '.'",
        rule=absolute.name,
    )


@rule("default-scheme", source="POWDER mail", preserves="usually")
def default_scheme(url: URL) -> URL:
    """Put http:// in front of a host without a scheme."""
    if url.scheme is None:
        if url.host is not None:
            return url._replace(scheme="http")
        return URL.parse(f"http://{url}") if url.path[:1] not in {"", "/"} else url
    # In `www.example.com:8080/`, the text after the colon is a port.
    if "." in url.scheme and url.host is None and _PORT.match(url.path):
        return URL.parse(f"http://{url}")
    return url


@rule("dot-segments", source="AdCP step 5; RFC 3986 section 5.2.4", preserves="always")
def dot_segments(url: URL) -> URL:
    """Remove `.` and `..` segments from a path that starts with a slash; repeated slashes stay."""
    if url.path[:1] != "/" or not has_dot_segments(url.path):
        return url
    path = remove_dot_segments(url.path)
    # Without an authority, two slashes in front would be read as one (RFC 3986 section 3.3).
    path = f"/.{path}" if url.host is None and path.startswith("//") else path
    return url if path == url.path else url._replace(path=path)


def resolved_against(base: str) -> Rule:
    """Return the rule that resolves a relative reference against `base`, an absolute URL.

    Raises:
        ConfigurationError: `base` is relative.
    """
    origin = URL.parse(base)
    if origin.scheme is None:
        raise ConfigurationError("base: the URL is relative; give an absolute URL")
    folder = origin.path[: origin.path.rfind("/") + 1] if origin.path or origin.host is None else "/"

    def apply(url: URL) -> URL:
        """Resolve a relative reference against a base."""
        if url.scheme is not None:
            return url
        if url.host is not None:
            return dot_segments.apply(url._replace(scheme=origin.scheme))
        if url.path:
            path = url.path if url.path[0] == "/" else folder + url.path
            return dot_segments.apply(origin._replace(path=path, query=url.query, fragment=url.fragment))
        query = origin.query if url.query is None else url.query
        return origin._replace(query=query, fragment=url.fragment)

    source = "RFC 3986 section 5.2.2; Grokipedia, Semantics-Altering Transformations"
    return Rule("resolved", source, "never", apply)

"""The authority of a received request, and the servers that hide part of it.

The authority of a request is matched with the configured origins. If a server hides `:authority`, the request is
rejected. But the operator may name a server that compares it with Host (AdCP, signing profile extensions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import MalformedURL, UndersignedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.message.header_fields import HeaderFields
    from undersigned.url.origin import Origin, Origins


class UnsupportedServer(UndersignedError):
    """Raised when a server, or a layer outside the middleware, hides what was signed. The message names the fix."""


HTTP2_SERVERS = frozenset({"hypercorn", "gunicorn", "daphne", "uvicorn"})
"""Servers that reject an HTTP/2 request whose `:authority` and Host differ, so the value they show is the value of
both."""

KNOWN_SERVERS = HTTP2_SERVERS | {"granian"}
"""Servers that are recognised by their own callables."""

HTTP1_VERSIONS = frozenset({"1", *(f"1.{minor}" for minor in range(10))})
"""Versions in which a request has Host and no `:authority` (RFC 9112 section 2.3); granian shows 1.0 as `1`."""


def matched_origin(origins: Origins, fields: HeaderFields, version: str) -> Origin:
    """Return the origin a request is for.

    Args:
        origins: the origins of the service.
        fields: the headers. Their Host values include `:authority` if the server shows it as one.
        version: the HTTP version. HTTP/2 servers may repeat `:authority` as Host.

    Raises:
        MalformedURL: the request does not have exactly one authority, or it is malformed or belongs to no origin.
    """
    host = fields.combined.get("host")
    if host is None or "host" in fields.repeated:
        host = _agreed_host(fields.values("host"), version)
    origin = origins.by_authority.get(host) or origins.match(host)
    if origin is None:
        raise MalformedURL(
            f"the authority is not one of the configured origins (configured: {origins})", rule="own origin"
        )
    return origin


def _agreed_host(hosts: Sequence[str], version: str) -> str:
    """Return the one value of several Host fields."""
    if not hosts or version in HTTP1_VERSIONS:
        raise MalformedURL(f"the request has {len(hosts)} Host values: expected one", rule="one authority")
    if any(host != hosts[0] for host in hosts):
        raise MalformedURL(":authority and Host differ", rule="one authority")
    return hosts[0]

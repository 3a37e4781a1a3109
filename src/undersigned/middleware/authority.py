"""The authority of a received request, and the servers that hide part of it.

The authority of a request is matched with the configured origins. If a server hides `:authority`, the request is
rejected. But the operator may name a server that compares it with Host (AdCP, signing profile extensions).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undersigned.errors import MalformedURL, printable
from undersigned.limits import LONGEST_METHOD
from undersigned.message import token

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from undersigned.errors import SignatureError
    from undersigned.message.header_fields import HeaderFields
    from undersigned.signature.profile import Profile
    from undersigned.url.origin import Origin, Origins


HTTP2_SERVERS = frozenset({"hypercorn", "gunicorn", "daphne", "uvicorn"})
"""Servers that reject an HTTP/2 request whose `:authority` and Host differ, so the value they show is the value of
both."""

KNOWN_SERVERS = HTTP2_SERVERS | {"granian"}
"""Servers that are recognised by their own callables."""

HTTP1_VERSIONS = frozenset({"1", *(f"1.{minor}" for minor in range(10))})
"""Versions in which a request has Host and no `:authority` (RFC 9112 section 2.3); granian shows 1.0 as `1`."""

_METHOD = re.compile(rf"{token.UPPER}+")


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


def check_head(method: str, fields: HeaderFields, names: Collection[str], profile: Profile) -> None:
    """Check that the method, the framing of the content and the names of the fields have one reading.

    Args:
        method: the method. It must be a short upper-case token: a server that changes its case would change what was
            signed.
        fields: the headers. Two readers of Content-Length with Transfer-Encoding see two contents (RFC 9112
            section 6.3).
        names: the field names as spelled, if one may have an underscore. As CGI variables, `Content_Type` and
            `Content-Type` are the same.
        profile: the verifier's profile.

    Raises:
        MalformedSignature: the content has two framings, or two names differ only in underscores and hyphens.
        MalformedURL: the method is too long, it is not an upper-case token, or it is CONNECT, which has no path.
    """
    spelled = {name.lower() for name in names} if names else ()
    if names and len({name.replace("_", "-") for name in spelled}) < len(spelled):
        raise profile.error(
            "signature_header_malformed", step=1, detail="a field name appears with hyphens and with underscores"
        )
    if "content-length" in fields.combined and "transfer-encoding" in fields.combined:
        raise profile.error(
            "signature_header_malformed", step=1, detail="the request has Content-Length and Transfer-Encoding"
        )
    if len(method) > LONGEST_METHOD:
        raise MalformedURL(
            f"the method has {len(method):,} characters, and at most {LONGEST_METHOD} are read: send a shorter one",
            rule="length",
        )
    if _METHOD.fullmatch(method) is None or method == "CONNECT":
        raise MalformedURL("the method is not an upper-case token, or is CONNECT", rule="method")


def check_version(version: str, http2_server: str | None, *, server: str | None, profile: Profile) -> None:
    """Check that `:authority` and Host have been compared, if the HTTP version has both (RFC 9113 section 8.3.1).

    Args:
        version: the HTTP version of the request; `2` and `3` have no minor version.
        http2_server: the server that the operator named as one that compares them, or None.
        server: the server, if it was recognised.
        profile: the verifier's profile.

    Raises:
        MalformedSignature: HTTP has no such version; a client may write any into the request line of HTTP/1.1.
        VerificationUnavailable: the server shows one authority and has not compared it with the other.
    """
    if version in HTTP1_VERSIONS:
        return
    if http2_server and version == "2" and server in {None, http2_server}:
        return
    if version not in {"2", "3"}:
        shown = printable(version, limit=8)
        raise profile.error("target_uri_malformed", step=10, detail=f"HTTP version: HTTP has no version {shown}")
    raise unsupported_error(
        profile,
        f"{server or 'the server'} does not show over HTTP version {version} whether :authority and Host "
        "agree. Serve HTTP/1.1 (granian: --http 1), or serve HTTP/2 by one of "
        f"{', '.join(sorted(HTTP2_SERVERS))} and name it in http2_server=",
    )


def unsupported_error(profile: Profile, detail: str) -> SignatureError:
    """Return the error for a server or stack that hides what was signed. `detail` names the fix."""
    return profile.error("signature_server_unsupported", step=10, detail=detail)

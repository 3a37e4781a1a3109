"""The request as it was on the wire, rebuilt from what the server shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from undersigned.errors import MalformedURL
from undersigned.limits import LONGEST_METHOD
from undersigned.log_text import printable
from undersigned.message import tchar
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.message.request_target import NOT_REBUILT
from undersigned.middleware.decision import without_query
from undersigned.middleware.options import HTTP2_SERVERS
from undersigned.middleware.received import HTTP1_VERSIONS, UnsupportedServer

if TYPE_CHECKING:
    from undersigned.errors import SignatureError
    from undersigned.middleware.options import Service
    from undersigned.middleware.received import Received
    from undersigned.signature.profile import Profile

_NO_ORIGIN: Final = "https://unsigned.invalid"
"""The origin in the URL of an unsigned request, which a policy reads: it may have come with any Host."""

_RAW_TARGET: Final = (
    "the request may be valid: use a server that shows the raw target, such as gunicorn or waitress. With "
    "reconstruct=True (RECONSTRUCT in Django), a path may have only letters, digits and . _ ~ / -"
)
_METHOD = re.compile(rf"{tchar.UPPER}+")


def rebuilt_request(received: Received, service: Service) -> Request:
    """Return a signed request as it was on the wire, without its content.

    Raises:
        MalformedURL: its target or authority is rejected.
        UnsupportedServer: the server hides part of it.
        SignatureError: its head can be read in two ways.
    """
    fields, profile = received.fields, service.profile
    received.check_server()
    _check_version(received, service)
    _check_head(received, profile)
    origin = received.origin(service.origins)
    target, query_unknown = received.target()
    if "host" in fields.repeated:
        # All of them are equal, and one is signed.
        host = ("host", fields.repeated["host"][0])
        fields = HeaderFields([*(field for field in fields if field[0] != "host"), host])
    return Request.unread(
        received.method, target, origin, fields, has_body=bool(received.has_body), query_unknown=query_unknown
    )


def _check_version(received: Received, service: Service) -> None:
    """Check that `:authority` and Host have been compared, if the HTTP version has both (RFC 9113 section 8.3.1).

    Raises:
        MalformedSignature: HTTP has no such version; a client may write any into the request line of HTTP/1.1.
        UnsupportedServer: the server shows one authority and has not compared it with the other.
    """
    version, server = received.version, received.server
    if version in HTTP1_VERSIONS:
        return
    if service.http2_server and version == "2" and server in {None, service.http2_server}:
        return
    if version not in {"2", "3"}:
        detail = f"HTTP version: HTTP has no version {printable(version, limit=8)}"
        raise service.profile.error("target_uri_malformed", step=10, detail=detail)
    raise UnsupportedServer(
        f"{server or 'the server'} does not show over HTTP version {version} whether :authority and Host "
        "agree. Serve HTTP/1.1 (granian: --http 1), or serve HTTP/2 with one of "
        f"{', '.join(sorted(HTTP2_SERVERS))} and name it in http2_server="
    )


def _check_head(received: Received, profile: Profile) -> None:
    """Check that the method, the framing of the content and the names of the fields have one reading.

    A server that changes the case of a method would change what was signed. Two readers of Content-Length with
    Transfer-Encoding see two contents (RFC 9112 section 6.3). As CGI variables, `Content_Type` and `Content-Type` are
    the same.

    Raises:
        MalformedSignature: the content has two framings, or two names differ only in underscores and hyphens.
        MalformedURL: the method is too long, it is not an upper-case token, or it is CONNECT, which has no path.
    """
    method, combined, names = received.method, received.fields.combined, received.names
    if "_" in "".join(names):
        spelled = {name.lower() for name in names}
        if len({name.replace("_", "-") for name in spelled}) < len(spelled):
            detail = "a field name appears with hyphens and with underscores"
            raise profile.error("signature_header_malformed", step=1, detail=detail)
    if "content-length" in combined and "transfer-encoding" in combined:
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


def routed_request(received: Received) -> tuple[Request, str]:
    """Return an unsigned request as a policy reads it, and its percent-decoded path. Its Host does not matter.

    If routers may read the target in two ways, the path is both, each on a line.

    Raises:
        UnsupportedServer: the server or framework hides part of it.
        MalformedURL: it routes something else.
    """
    received.check_server()
    path, (target, mark, query) = received.routed_path(), received.shown_target().partition("?")
    url = f"{_NO_ORIGIN}{quote(path, errors='replace')}{mark}{query}"
    raw = unquote(target, errors="replace")
    if (target and raw != path) or "#" in target:
        # Some routers read the one and some the other, and some cut off a fragment, which no target may have.
        # Neither may contain a listed operation.
        path = f"{path}\n{raw}"
    return Request(received.method, url, received.fields, has_body=bool(received.has_body)), path


def target_error(malformed: MalformedURL, received: Received, profile: Profile) -> SignatureError:
    """Return the error for a rejected target or authority (AdCP step 10), with both as evidence for the log."""
    hosts, target = ", ".join(received.fields.values("host")), without_query(received.shown_target())
    error = profile.error(
        "target_uri_malformed",
        step=10,
        detail=f"{malformed.rule}: {malformed}",
        received=f"Host {hosts or '(none)'}, request target {target or '(none)'}",
    )
    error.too_large = malformed.too_large
    if malformed.rule == NOT_REBUILT:
        error.fix = _RAW_TARGET
    return error

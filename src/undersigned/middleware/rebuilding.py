"""The request as it was on the wire, rebuilt from what the server shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.authority import check_head, check_version, matched_origin
from undersigned.middleware.evidence import without_query

if TYPE_CHECKING:
    from undersigned.errors import MalformedURL, SignatureError
    from undersigned.middleware.received import Received
    from undersigned.middleware.service import Service
    from undersigned.signature.profile import Profile

_NO_ORIGIN: Final = "https://unsigned.invalid"
"""The origin in the URL of an unsigned request, which a policy reads: it may have come with any Host."""


def rebuilt_request(received: Received, service: Service) -> Request:
    """Return a signed request as it was on the wire, without its content.

    Raises:
        MalformedURL: its target or authority is rejected.
        SignatureError: its head can be read in two ways, or the server hides part of it.
    """
    fields, profile, method = received.fields, service.profile, received.method
    received.check_server(profile)
    check_version(received.version, service.http2_server, server=received.server, profile=profile)
    check_head(method, fields, received.names, profile)
    origin = matched_origin(service.origins, fields, received.version)
    target, query_unknown = received.target(profile)
    if "host" in fields.repeated:
        # All of them are equal, and one is signed.
        host = ("host", fields.repeated["host"][0])
        fields = HeaderFields([*(field for field in fields if field[0] != "host"), host])
    return Request.unread(method, target, origin, fields, has_body=bool(received.has_body), query_unknown=query_unknown)


def routed_request(received: Received, service: Service) -> tuple[Request, str]:
    """Return an unsigned request as a policy reads it, and its percent-decoded path. Its Host does not matter.

    Raises:
        SignatureError: the server or framework hides part of it, or routes something else.
    """
    received.check_server(service.profile)
    path, (target, mark, query) = received.routed_path(service.profile), received.shown_target().partition("?")
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
    return error

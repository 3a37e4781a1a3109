"""The authority of a received request, and what a server must not hide of it.

The authority a message names is matched with the configured origins. If a server hides `:authority`, the request is
rejected unless the operator has named a server that compares it with Host itself (AdCP, signing profile extensions).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undersigned.errors import MalformedURL, printable
from undersigned.message.request_target import LONGEST_AUTHORITY

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from undersigned.errors import SignatureError
    from undersigned.message.header_fields import HeaderFields
    from undersigned.signature.profile import Profile
    from undersigned.url.origin import Origin, Origins

MOST_FIELDS = 128
"""The most header fields that are read, so that refusing costs less than verifying; gunicorn and Apache stop at 100."""

HTTP2_SERVERS = frozenset({"hypercorn", "gunicorn", "daphne", "uvicorn"})
"""Servers that refuse an HTTP/2 request whose `:authority` and Host differ, so that the one shown stands for both."""

KNOWN_SERVERS = HTTP2_SERVERS | {"granian"}
"""Servers whose own callables are recognised."""

_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Z-]+")


def matched_origin(origins: Origins, hosts: Sequence[str], *, several: bool) -> tuple[Origin, str]:
    """Return the origin a request is for, and its authority as received.

    Args:
        origins: the service's own.
        hosts: the Host values, `:authority` among them where the server shows it so.
        several: whether equal values may stand side by side, as HTTP/2 servers show `:authority` and Host.

    Raises:
        MalformedURL: not one authority, no authority at all, or one that is not the service's.
    """
    if not hosts or (len(hosts) > 1 and not several):
        raise MalformedURL(f"the request has {len(hosts)} Host values; HTTP wants one", rule="one authority")
    if any(host != hosts[0] for host in hosts):
        raise MalformedURL(":authority and Host differ", rule="one authority")
    if len(hosts[0]) > LONGEST_AUTHORITY:
        raise MalformedURL(f"the authority has more than {LONGEST_AUTHORITY} characters", rule="length")
    origin = origins.match(hosts[0])
    if origin is None:
        raise MalformedURL(
            "the authority is none of the configured origins; if it is this service's own, add it to origins=, and if "
            "a proxy rewrites Host, have it pass Host on as it came",
            rule="own origin",
        )
    return origin, hosts[0]


def check_method(method: str) -> None:
    """Hold the method to an upper-case token: a server that changes its case would change what was signed.

    Raises:
        MalformedURL: it is not, or it is CONNECT, which has no path.
    """
    if _METHOD.fullmatch(method) is None or method == "CONNECT":
        raise MalformedURL("the method is not an upper-case token, or is CONNECT", rule="method")


def check_framing(fields: HeaderFields, profile: Profile) -> None:
    """Hold the message to one framing of its content (RFC 9112 section 6.3).

    Raises:
        MalformedSignature: Content-Length stands beside Transfer-Encoding, where two readers see two contents.
    """
    if fields.has("content-length") and fields.has("transfer-encoding"):
        raise profile.error(
            "signature_header_malformed", step=1, detail="Content-Length and Transfer-Encoding come together"
        )


def check_names(names: Collection[str], profile: Profile) -> None:
    """Hold field names to one reading: whoever maps them to CGI variables takes `Content_Type` for `Content-Type`.

    Raises:
        MalformedSignature: two names differ by underscores and hyphens only.
    """
    if "_" not in "".join(names):
        return
    spelled = {name.lower() for name in names}
    if len({name.replace("_", "-") for name in spelled}) < len(spelled):
        raise profile.error(
            "signature_header_malformed", step=1, detail="a field name stands there with hyphens and with underscores"
        )


def is_http1(version: str) -> bool:
    """Return whether an HTTP version, such as `1.1`, is 1.0 or 1.1."""
    return version.startswith("1.")


def check_version(version: str, http2_server: str | None, *, server: str | None, profile: Profile) -> None:
    """Check that `:authority` and Host have been compared, if the HTTP version has both (RFC 9113 section 8.3.1).

    Args:
        version: the HTTP version of the request.
        http2_server: the server that the operator named as one that compares them, or None.
        server: the server that was recognised, or None.
        profile: the verifier's profile.

    Raises:
        VerificationUnavailable: the server shows one authority, and nobody has compared it with the other.
    """
    if is_http1(version) or (http2_server and version in {"2", "2.0"} and server in {None, http2_server}):
        return
    raise unsupported(
        profile,
        f"{server or 'the server'} hides over HTTP version {printable(version, limit=8)} whether :authority and Host "
        "agree: serve HTTP/1.1 (granian: --http 1), or serve HTTP/2 by one of "
        f"{', '.join(sorted(HTTP2_SERVERS))} and name it in http2_server=",
    )


def unsupported(profile: Profile, detail: str) -> SignatureError:
    """Return the error for a server or stack that cannot show what was signed; `detail` names the fix."""
    return profile.error("signature_server_unsupported", step=10, detail=detail)


def target_rejected(profile: Profile, malformed: MalformedURL, *, hosts: Sequence[str], target: str) -> SignatureError:
    """Return the checklist's error for a target or an authority that is refused (step 10).

    Args:
        profile: the profile in force.
        malformed: what refused.
        hosts: the Host values as they arrived, for the operator's log.
        target: the request target as the server shows it, for the operator's log.
    """
    return profile.error(
        "target_uri_malformed",
        step=10,
        detail=f"{malformed.rule}: {malformed}",
        received=f"Host {', '.join(hosts) or '(none)'}, request target {target or '(none)'}",
    )

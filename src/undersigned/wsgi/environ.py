"""The WSGI interface; the target, fields and body framing of an environ; the environ that the application gets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import unquote_to_bytes

from undersigned.asgi import scope as asgi_scope
from undersigned.errors import MalformedURL
from undersigned.limits import MOST_FIELDS, MOST_LENGTH_DIGITS
from undersigned.message.request_target import RequestTarget, application_path

if TYPE_CHECKING:
    from undersigned.url import CanonicalURL
    from undersigned.url.origin import Origin

Environ: TypeAlias = dict[str, Any]
"""What a server says of a request (PEP 3333)."""
StartResponse: TypeAlias = Callable[..., Callable[[bytes], object]]
"""Begins the response (PEP 3333)."""
WSGIApp: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]
"""An application (PEP 3333)."""

_RAW_KEYS = ("REQUEST_URI", "RAW_URI")
_RULE = "request target"
_DOT_SEGMENTS = frozenset({".", ".."})
_READ_TWO_WAYS = re.compile(r"//|%2[EeFf]")


def field_lines(environ: Environ) -> list[tuple[str, str]]:
    """Return the headers. A key that is not made of a field name, such as an empty one, is rejected later."""
    lines = [(key[5:].replace("_", "-"), str(value)) for key, value in environ.items() if key[:5] == "HTTP_"]
    for key, name in (("CONTENT_TYPE", "content-type"), ("CONTENT_LENGTH", "content-length")):
        if value := environ.get(key):
            lines.append((name, str(value)))
    return lines


def has_too_many_fields(environ: Environ) -> bool:
    """Return whether there are more than `MOST_FIELDS` headers, without content type and length.

    The fields are not read for that.
    """
    if len(environ) > MOST_FIELDS and ("\n" + "\n".join(environ)).count("\nHTTP_") > MOST_FIELDS:
        return True
    scope: dict[str, Any] = environ.get("asgi.scope") or {}
    shown: object = scope.get("headers")
    # Anything else may be an iterator, which the application must get unread.
    return isinstance(shown, (list, tuple)) and len(cast("list[object]", shown)) > MOST_FIELDS


def body_framing(environ: Environ) -> tuple[bool | None, int | None, bool]:
    """Return the framing of a body, as the server shows it (RFC 9112 section 6).

    Returns:
        Whether content comes with the request, or None if only reading shows it, as over HTTP/2. Then the number of
        bytes, or None if only the end of the stream shows it. Then whether the stream can be read as the content and
        nothing else.
    """
    declared, chunked = environ.get("CONTENT_LENGTH") or "", environ.get("HTTP_TRANSFER_ENCODING")
    if declared and not chunked:
        if not (declared.isascii() and declared.isdigit() and len(declared) <= MOST_LENGTH_DIGITS):
            return True, None, False
        length = int(declared)
        return length > 0, length, True
    terminated = environ.get("wsgi.input_terminated") is True or "asgi.scope" in environ
    if chunked:
        return True, None, terminated and not declared
    # HTTP/2 needs no Content-Length: its stream ends with the content.
    ends = terminated and str(environ.get("SERVER_PROTOCOL", "")).startswith("HTTP/2")
    return (None, None, True) if ends else (False, 0, True)


def shown_target(environ: Environ) -> str:
    """Return what the server shows of the request target, valid or not, as evidence for the log."""
    if "asgi.scope" in environ:
        return asgi_scope.shown_target(environ["asgi.scope"])
    return " or ".join(dict.fromkeys(str(environ[key]) for key in _RAW_KEYS if environ.get(key)))


def verified_environ(environ: Environ, target: CanonicalURL, origin: Origin) -> Environ:
    """Return the environ for the application: a copy with the canonical target that was verified.

    Raises:
        MalformedURL: the canonical path is outside the origin's prefix or the mount that routed the request here.
    """
    path = application_path(target, origin)
    query = target.query
    decoded = unquote_to_bytes(path).decode("latin-1") if "%" in path else path
    path_info = _path_info(environ, decoded)
    new = {**environ, "PATH_INFO": path_info, "QUERY_STRING": query or "", "wsgi.url_scheme": origin.scheme}
    for key in _RAW_KEYS:
        if environ.get(key):
            new[key] = path if query is None else f"{path}?{query}"
    if "asgi.scope" in environ:
        scope = environ["asgi.scope"]
        headers = list(scope["headers"])
        new["asgi.scope"] = asgi_scope.verified_scope(
            scope, headers, target=target, origin=origin, server_adds_root_path=False
        )
    return new


def _path_info(environ: Environ, path: str) -> str:
    """Return the PATH_INFO of the canonical, decoded `path`: what follows SCRIPT_NAME if the server cuts that off.

    Raises:
        MalformedURL: only one of the received and the canonical path is in the mount that SCRIPT_NAME names. Or dot
            segments hide whether the received path is.
    """
    script_name: str = environ.get("SCRIPT_NAME", "")
    if not script_name:
        return path
    shown = shown_target(environ).partition("?")[0]
    target = RequestTarget(shown or script_name + environ.get("PATH_INFO", ""), None)
    received = unquote_to_bytes(target.path).decode("latin-1")
    # Some servers remove dot segments before they decode the path and merge slashes, others after.
    if _READ_TWO_WAYS.search(target.path) and not _DOT_SEGMENTS.isdisjoint(received.split("/")):
        raise MalformedURL("dot segments hide whether the target starts with SCRIPT_NAME", rule=_RULE)
    if _cuts_script_name(environ, target):
        if not _starts_with(path, script_name):
            raise MalformedURL("the canonical path is outside the mount that routed it", rule=_RULE)
        return path[len(script_name) :]
    if _starts_with(path, script_name) and not _starts_with(received, script_name):
        raise MalformedURL("only the canonical path starts with SCRIPT_NAME", rule=_RULE)
    return path


def _cuts_script_name(environ: Environ, target: RequestTarget) -> bool:
    """Return whether SCRIPT_NAME was cut off of the target, and not added to it by configuration.

    Raises:
        MalformedURL: it was cut off in the middle of a segment, or dot segments hide whether it was.
    """
    inner, outer = routed_paths(environ)
    received = unquote_to_bytes(target.path)
    if received == inner:
        return False
    if received != outer and target.is_path(inner):
        if target.is_path(outer):
            raise MalformedURL("dot segments hide whether the target starts with SCRIPT_NAME", rule=_RULE)
        return False
    if not (inner[:1] in {b"", b"/"} or environ["SCRIPT_NAME"].endswith("/")):
        raise MalformedURL("SCRIPT_NAME ends in the middle of a segment of the target", rule=_RULE)
    return True


def _starts_with(path: str, script_name: str) -> bool:
    return path == script_name or path.startswith(f"{script_name.removesuffix('/')}/")


def raw_target(environ: Environ) -> RequestTarget | None:
    """Return the target that the server shows, or None if it shows none."""
    if "asgi.scope" in environ:
        return asgi_scope.request_target(environ["asgi.scope"], server_adds_root_path=False)
    request_uri, raw_uri = environ.get("REQUEST_URI"), environ.get("RAW_URI")
    if request_uri and raw_uri and request_uri != raw_uri:
        raise MalformedURL("REQUEST_URI and RAW_URI are different targets", rule=_RULE)
    shown: str | None = request_uri or raw_uri
    return RequestTarget.parse(_octets(shown)) if shown else None


def routed_paths(environ: Environ) -> tuple[bytes, bytes]:
    """Return the decoded path the application routes on, without and with the mount in front of it."""
    path_info = _octets(environ.get("PATH_INFO", ""))
    return path_info, _octets(environ.get("SCRIPT_NAME", "")) + path_info


def _octets(text: str) -> bytes:
    """Return `text` encoded as the octets that it represents (PEP 3333).

    Raises:
        MalformedURL: it has a character that is not an octet.
    """
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise MalformedURL(
            "the target has a character above U+00FF, which no server should pass: report it to the server's project",
            rule=_RULE,
        ) from None

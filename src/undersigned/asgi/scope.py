"""The ASGI 3 interface, the request target that a scope shows, and the scope that the application gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from inspect import isclass, iscoroutinefunction, signature
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes

from undersigned.errors import MalformedURL
from undersigned.message.request_target import RequestTarget, application_path
from undersigned.middleware.options import HTTP2_SERVERS
from undersigned.middleware.received import UnsupportedServer

if TYPE_CHECKING:
    from undersigned.url import CanonicalURL
    from undersigned.url.origin import Origin

Scope: TypeAlias = MutableMapping[str, Any]
"""What a server says of a connection (ASGI 3)."""
Message: TypeAlias = MutableMapping[str, Any]
"""An event of a connection, such as a part of the body (ASGI 3)."""
Receive: TypeAlias = Callable[[], Awaitable[Message]]
"""Returns the next event of a connection."""
Send: TypeAlias = Callable[[Message], Awaitable[None]]
"""Sends an event to the server."""
ASGIApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An application (ASGI 3)."""

_KNOWN_SERVERS = HTTP2_SERVERS | {"granian"}
"""Servers that are recognised by their own callables."""


def request_target(scope: Scope, *, server_adds_root_path: bool) -> RequestTarget:
    """Return the request target as it was on the wire.

    ASGI does not show a lone `?`: a target without a query may have had one.

    Raises:
        MalformedURL: the request target is rejected.
        UnsupportedServer: the server shows no raw target.
    """
    raw = scope.get("raw_path")
    if not isinstance(raw, bytes) or not raw:
        raise UnsupportedServer(
            "the server does not pass raw_path: run the application under uvicorn, hypercorn, granian or gunicorn"
        )
    query = scope.get("query_string") or b""
    root = scope.get("root_path") or ""
    path = scope["path"]
    received = RequestTarget.parse(raw + b"?" + query if query else raw)
    if (root or path != received.path) and not received.is_path(
        path.encode("utf-8", "surrogatepass"), (root + path).encode("utf-8", "surrogatepass")
    ):
        raise MalformedURL(
            "raw_path and path are different: something before the middleware rewrites one", rule="request target"
        )
    if not server_adds_root_path:
        return received
    added = _added_path(scope)
    if not received.path.startswith(f"{added}/"):
        raise UnsupportedServer(
            "raw_path does not start with root_path: leave server_adds_root_path out for this server"
        )
    return RequestTarget(received.path[len(added) :], received.query)


def shown_target(scope: Scope) -> str:
    """Return what the server shows of the request target, valid or not, as evidence for the log: at least its path."""
    raw, query = scope.get("raw_path"), scope.get("query_string")
    path = raw if isinstance(raw, bytes) else quote(scope.get("path", ""), errors="replace").encode("ascii")
    return (path + b"?" + query if isinstance(query, bytes) and query else path).decode("latin-1")


def verified_scope(
    scope: Scope,
    headers: list[tuple[bytes, bytes]],
    *,
    target: CanonicalURL,
    origin: Origin,
    server_adds_root_path: bool,
) -> dict[str, Any]:
    """Return the scope for the application: the header snapshot and the canonical target that was verified.

    Raises:
        MalformedURL: the canonical path is outside the origin's prefix or the mount that routed the request here.
    """
    added = _added_path(scope) if server_adds_root_path else ""
    raw = added + (application_path(target, origin) if origin.prefix else target.path)
    path = unquote_to_bytes(raw).decode("utf-8", "replace") if "%" in raw else raw
    root = scope.get("root_path")
    if root:
        before, received = scope["path"], unquote_to_bytes(scope["raw_path"].decode("ascii")).decode("utf-8", "replace")
        if received.startswith(f"{root}/") and not path.startswith(f"{root}/"):
            raise MalformedURL("the canonical path is outside the mount that routed it", rule="request target")
        if before != received and root + before == received:
            path = path[len(root) :]
    new = {**scope, "headers": headers, "path": path, "raw_path": raw.encode("ascii")}
    if "scheme" in scope:
        new["scheme"] = origin.scheme if scope["type"] == "http" else origin.scheme.replace("http", "ws")
    return new


def server_root_path(scope: Scope) -> str:
    """Return the server's root path, which a Starlette mount that extends it keeps as `app_root_path`."""
    root: str = scope.get("app_root_path", scope.get("root_path")) or ""
    return root


def detected_server(receive: object, send: object) -> str | None:
    """Return the package of the server's own callables, or None if another layer wraps them.

    Recognising a server only ever rejects more.
    """
    for call in (receive, send):
        owner = getattr(getattr(call, "func", call), "__self__", None)
        package = type(owner).__module__.partition(".")[0]
        if package in _KNOWN_SERVERS:
            return package
    return None


def _added_path(scope: Scope) -> str:
    return quote_from_bytes(server_root_path(scope).encode()).rstrip("/")


def is_application(held: object) -> bool:
    """Return whether what a middleware holds may be an ASGI application, and no function that it asks."""
    if not callable(held) or isclass(held):
        return False
    if not (iscoroutinefunction(held) or iscoroutinefunction(type(held).__call__)):
        return False
    try:
        signature(held).bind(None, None, None)
    except TypeError:
        return False
    return True

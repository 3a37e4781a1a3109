"""Layers that an application may have around it, endpoints without a framework, and bridges between ASGI and WSGI."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from a2wsgi import WSGIMiddleware
from asgiref.wsgi import WsgiToAsgi

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.middleware.wsgi import WSGIMiddleware as OldMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable

OVERRIDES = ("x-http-method-override", "x-http-method", "x-method-override")
PREFIX = "/v1"

TO_ASGI: dict[str, Callable[[Any], Any]] = {"asgiref": WsgiToAsgi, "a2wsgi": WSGIMiddleware, "starlette": OldMiddleware}


def asgi_endpoint(tell: Callable[[Any], str], endpoint: object) -> Any:
    """Return an ASGI application that tells that an endpoint runs."""

    async def application(scope: Any, _receive: object, send: Any) -> None:
        content = tell(endpoint).encode()
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": content})

    return application


def wsgi_endpoint(tell: Callable[[Any], str], endpoint: object) -> Any:
    """Return a WSGI application that tells that an endpoint runs."""

    def application(_environ: object, start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        return [tell(endpoint).encode()]

    return application


class _ASGI:
    """A layer that changes the scope of each request."""

    changed: Callable[[Any], Any]

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(self.changed(scope) if scope["type"] == "http" else scope, receive, send)


class _WSGI(_ASGI):
    """A layer that changes the environ of each request."""

    def __call__(self, environ: Any, start_response: Any) -> Any:
        return self.app(self.changed(environ), start_response)


def _overridden(scope: Any) -> Any:
    fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    given = [fields[name] for name in OVERRIDES if name in fields]
    given += parse_qs(scope["query_string"].decode("latin-1")).get("_method", [])
    return {**scope, "method": given[0].upper()} if given else scope


def _overridden_environ(environ: Any) -> Any:
    keys = [f"HTTP_{name.upper().replace('-', '_')}" for name in OVERRIDES]
    given = [environ[key] for key in keys if key in environ] + parse_qs(environ["QUERY_STRING"]).get("_method", [])
    return {**environ, "REQUEST_METHOD": given[0].upper()} if given else environ


def _stripped(scope: Any) -> Any:
    if not scope["path"].startswith(PREFIX):
        return scope
    raw = scope.get("raw_path") or b""
    return {**scope, "path": scope["path"][len(PREFIX) :], "raw_path": raw.removeprefix(PREFIX.encode())}


def _rewritten(scope: Any) -> Any:
    given = [value for name, value in scope["headers"] if name == b"x-original-url"]
    return {**scope, "path": given[0].decode("latin-1"), "raw_path": given[0]} if given else scope


_SCOPE = frozenset({
    "type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "query_string", "root_path", "headers",
    "client", "server", "state", "extensions", "app", "router",
})  # fmt: skip

_CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "none": (lambda scope: scope, lambda environ: environ),
    "override": (_overridden, _overridden_environ),
    "strip": (_stripped, lambda environ: {**environ, "PATH_INFO": environ["PATH_INFO"].removeprefix(PREFIX)}),
    "rewrite": (
        _rewritten,
        lambda environ: {**environ, "PATH_INFO": environ.get("HTTP_X_ORIGINAL_URL", environ["PATH_INFO"])},
    ),
    "fresh": (
        lambda scope: {name: value for name, value in scope.items() if name in _SCOPE},
        lambda environ: {key: environ[key] for key in environ if key.isupper() or key.startswith("wsgi.")},
    ),
}
LAYERS = {
    interface: {name: type(name, (base,), {"changed": staticmethod(of[at])}) for name, of in _CHANGES.items()}
    for at, (interface, base) in enumerate((("asgi", _ASGI), ("wsgi", _WSGI)))
}
"""What is between the middleware and the router: it takes the method from a field or the query, removes a prefix of the
path, takes the path from a field, or makes a `fresh` scope or environ, which lacks what the middleware found out."""

"""Layers that an application may have around it, endpoints without a framework, and bridges between ASGI and WSGI."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from a2wsgi import ASGIMiddleware, WSGIMiddleware
from asgiref.wsgi import WsgiToAsgi

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.middleware.wsgi import WSGIMiddleware as OldMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable

OVERRIDES = ("x-http-method-override", "x-http-method", "x-method-override")
PREFIX = "/v1"

TO_ASGI: dict[str, Callable[[Any], Any]] = {"asgiref": WsgiToAsgi, "a2wsgi": WSGIMiddleware, "starlette": OldMiddleware}
TO_WSGI: dict[str, Callable[[Any], Any]] = {"a2wsgi": ASGIMiddleware}


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


class _Layer:
    def __init__(self, app: Any) -> None:
        self.app = app


class _ASGI(_Layer):
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = self.changed(scope)
        await self.app(scope, receive, send)

    def changed(self, scope: Any) -> Any:
        return scope


class _Override(_ASGI):
    """A layer that takes the method from a field or from the query."""

    def changed(self, scope: Any) -> Any:
        fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        given = [fields[name] for name in OVERRIDES if name in fields]
        given += parse_qs(scope["query_string"].decode("latin-1")).get("_method", [])
        return {**scope, "method": given[0].upper()} if given else scope


class _Strip(_ASGI):
    """A layer that removes a prefix of the path."""

    def changed(self, scope: Any) -> Any:
        if not scope["path"].startswith(PREFIX):
            return scope
        raw = scope.get("raw_path") or b""
        return {**scope, "path": scope["path"][len(PREFIX) :], "raw_path": raw.removeprefix(PREFIX.encode())}


class _Rewrite(_ASGI):
    """A layer that takes the path from a field."""

    def changed(self, scope: Any) -> Any:
        given = [value for name, value in scope["headers"] if name == b"x-original-url"]
        return {**scope, "path": given[0].decode("latin-1"), "raw_path": given[0]} if given else scope


class _Fresh(_ASGI):
    """A layer that makes a scope of its own."""

    def changed(self, scope: Any) -> Any:
        return {name: value for name, value in scope.items() if name in _SCOPE}


_SCOPE = frozenset({
    "type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "query_string", "root_path", "headers",
    "client", "server", "state", "extensions", "app", "router",
})  # fmt: skip


class _WSGI(_Layer):
    def __call__(self, environ: Any, start_response: Any) -> Any:
        return self.app(self.changed(environ), start_response)

    def changed(self, environ: Any) -> Any:
        return environ


class _WSGIOverride(_WSGI):
    def changed(self, environ: Any) -> Any:
        keys = [f"HTTP_{name.upper().replace('-', '_')}" for name in OVERRIDES]
        given = [environ[key] for key in keys if key in environ] + parse_qs(environ["QUERY_STRING"]).get("_method", [])
        return {**environ, "REQUEST_METHOD": given[0].upper()} if given else environ


class _WSGIStrip(_WSGI):
    def changed(self, environ: Any) -> Any:
        return {**environ, "PATH_INFO": environ["PATH_INFO"].removeprefix(PREFIX)}


class _WSGIRewrite(_WSGI):
    def changed(self, environ: Any) -> Any:
        return {**environ, "PATH_INFO": environ.get("HTTP_X_ORIGINAL_URL", environ["PATH_INFO"])}


class _WSGIFresh(_WSGI):
    def changed(self, environ: Any) -> Any:
        return {key: value for key, value in environ.items() if key.isupper() or key.startswith("wsgi.")}


LAYERS: dict[str, dict[str, type[_Layer]]] = {
    "asgi": {"none": _ASGI, "override": _Override, "strip": _Strip, "rewrite": _Rewrite, "fresh": _Fresh},
    "wsgi": {
        "none": _WSGI, "override": _WSGIOverride, "strip": _WSGIStrip, "rewrite": _WSGIRewrite, "fresh": _WSGIFresh,
    },
}  # fmt: skip
"""What is between the middleware and the router. A `fresh` scope or environ lacks what the middleware found out."""

"""The application for every server of the matrix: it records its calls and returns them on another path.

The field X-Endpoint may name the application `alone`, or the middleware in the mode `optional`.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from io import BytesIO

from tests.keys import KEYS

from undersigned import MemoryReplayStore, Policy, Verifier, asgi, profiles, wsgi
from undersigned.asgi.scope import detected_server as asgi_server
from undersigned.wsgi.servers import detected_server as wsgi_server

logging.basicConfig(level=logging.INFO)
ORIGINS = ["https://seller.example.com", "https://[2001:db8::1]:8443"]
SEEN = "/__seen__"
READS_LESS = bool(os.environ.get("PROBE_READS_LESS"))
OPTIONS = {
    "verifier": Verifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore()),
    "origins": ORIGINS,
    "http2_server": os.environ.get("PROBE_HTTP2_SERVER") or None,
    "policy": Policy(required_for=os.environ["PROBE_POLICY"].split()) if "PROBE_POLICY" in os.environ else None,
}
OPTIONAL = {**OPTIONS, "policy": None, "mode": "optional"}


class Calls:
    """The calls of the application since they were last fetched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[dict] = []

    def record(self, call: dict) -> bytes:
        with self._lock:
            self._calls.append(call)
        return json.dumps(call).encode()

    def seen(self, server: str | None) -> bytes:
        with self._lock:
            calls, self._calls = self._calls, []
        return json.dumps({"server": server, "calls": calls}).encode()


calls = Calls()


async def _send(send, content: bytes) -> None:
    fields = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": content})


def _asgi_target(scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")


async def _asgi_application(scope, receive, send) -> None:
    body, more = b"", not READS_LESS or scope["method"] in {"POST", "PUT", "PATCH"}
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        more = message.get("more_body", False)
    call = {
        "method": scope["method"],
        "path": scope["path"],
        "raw": _asgi_target(scope),
        "root": scope.get("root_path", ""),
        "scheme": scope["scheme"],
        "fields": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]],
        "target_uri": getattr(getattr(scope.get("undersigned"), "signature", None), "target_uri", None),
        "body": body.decode("latin-1"),
    }
    await _send(send, calls.record(call))


_asgi_verified = asgi.SignatureMiddleware(_asgi_application, **OPTIONS)
_asgi_optional = asgi.SignatureMiddleware(_asgi_application, **OPTIONAL)


async def asgi_app(scope, receive, send) -> None:
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
    if scope["path"] == SEEN:
        await _send(send, calls.seen(asgi_server(receive, send)))
    else:
        named = dict(scope["headers"]).get(b"x-endpoint")
        app = {b"alone": _asgi_application, b"optional": _asgi_optional}.get(named, _asgi_verified)
        await app(scope, receive, send)


def _answer(environ, start_response, content: bytes) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [content]


def _wsgi_application(environ, start_response):
    try:
        body = environ["wsgi.input"].read()
    except OSError:
        # uWSGI raises it when the client leaves. Without the middleware the application gets it too.
        start_response("400 Bad Request", [("Content-Length", "0")])
        return []
    named = {key: key[5:].lower().replace("_", "-") for key in environ if key.startswith("HTTP_")}
    named |= {key: key.lower().replace("_", "-") for key in ("CONTENT_TYPE", "CONTENT_LENGTH") if environ.get(key)}
    call = {
        "method": environ["REQUEST_METHOD"],
        "path": environ["PATH_INFO"].encode("latin-1").decode(errors="replace"),
        "raw": environ.get("RAW_URI") or environ.get("REQUEST_URI") or _asgi_target(environ["asgi.scope"]),
        "root": environ["SCRIPT_NAME"],
        "scheme": environ["wsgi.url_scheme"],
        "fields": [[name, environ[key]] for key, name in named.items()],
        "target_uri": getattr(getattr(environ.get("undersigned"), "signature", None), "target_uri", None),
        "body": body.decode("latin-1"),
    }
    return _answer(environ, start_response, calls.record(call))


_wsgi_verified = wsgi.SignatureMiddleware(_wsgi_application, **OPTIONS)
_wsgi_optional = wsgi.SignatureMiddleware(_wsgi_application, **OPTIONAL)


def wsgi_app(environ, start_response):
    if environ["PATH_INFO"] == SEEN:
        return _answer(environ, start_response, calls.seen(wsgi_server(environ, start_response)))
    chosen = {"alone": _wsgi_application, "optional": _wsgi_optional}.get(environ.get("HTTP_X_ENDPOINT"))
    if chosen is None:
        return _wsgi_verified(environ, start_response)
    # An unsigned request without content: some servers would wait for its end.
    return chosen({**environ, "wsgi.input": BytesIO()}, start_response)


application = wsgi_app  # the name that mod_wsgi imports


def a2wsgi_app():
    from a2wsgi import WSGIMiddleware  # noqa: PLC0415 - only one server needs it

    return WSGIMiddleware(wsgi_app)

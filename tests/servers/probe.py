"""The applications for every server of the matrix and behind every proxy: they tell what they received.

The one of the matrix also records its calls and returns them on another path. The field X-Endpoint may name another
application: `alone`, or the middleware in the mode `optional`.
"""

from __future__ import annotations

import json
import logging
import os
from io import BytesIO

from tests.keys import KEYS

from undersigned import MemoryReplayStore, Policy, Verifier, asgi, profiles, wsgi
from undersigned.asgi.scope import detected_server as asgi_server
from undersigned.wsgi.servers import detected_server as wsgi_server

logging.basicConfig(level=logging.INFO)
# Fronts share a log, and some reject more requests of one code than get a line at WARNING.
logging.getLogger("undersigned").setLevel(logging.DEBUG)
ORIGINS = os.environ.get("PROBE_ORIGINS", "https://seller.example.com https://[2001:db8::1]:8443").split()
SEEN = "/__seen__"
READS_LESS = bool(os.environ.get("PROBE_READS_LESS"))
OPTIONS = {
    "verifier": Verifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore()),
    "origins": ORIGINS,
    "http2_server": os.environ.get("PROBE_HTTP2_SERVER") or None,
    "policy": Policy(required_for=os.environ["PROBE_POLICY"].split()) if "PROBE_POLICY" in os.environ else None,
}
OPTIONAL = {**OPTIONS, "policy": None, "mode": "optional"}


_calls: list[dict] = []
"""The calls of the application since they were last fetched."""


def record(call: dict) -> bytes:
    _calls.append(call)
    return json.dumps(call).encode()


def _seen(server: str | None) -> bytes:
    calls = _calls[:]
    del _calls[: len(calls)]
    return json.dumps({"server": server, "calls": calls}).encode()


async def _send(send, content: bytes) -> None:
    fields = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": content})


def _asgi_target(scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")


def asgi_application(told):
    """Return an ASGI application that answers with what a function makes of a call."""

    async def application(scope, receive, send) -> None:
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
        await _send(send, told(call))

    return application


def asgi_chosen(default, /, **named):
    """Return an application that is the one of several that X-Endpoint names."""

    async def app(scope, receive, send) -> None:
        if scope["type"] == "lifespan":
            while True:
                message = await receive()
                await send({"type": f"{message['type']}.complete"})
                if message["type"] == "lifespan.shutdown":
                    return
        if scope["path"] == SEEN:
            await _send(send, _seen(asgi_server(receive, send)))
        else:
            await named.get(dict(scope["headers"]).get(b"x-endpoint", b"").decode(), default)(scope, receive, send)

    return app


_asgi = asgi_application(record)
asgi_app = asgi_chosen(
    asgi.SignatureMiddleware(_asgi, **OPTIONS), alone=_asgi, optional=asgi.SignatureMiddleware(_asgi, **OPTIONAL)
)


def _answer(environ, start_response, content: bytes) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [content]


def wsgi_application(told):
    """Return a WSGI application that answers with what a function makes of a call."""

    def application(environ, start_response):
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
        return _answer(environ, start_response, told(call))

    return application


def wsgi_chosen(default, /, **named):
    """Return an application that is the one of several that X-Endpoint names."""

    def app(environ, start_response):
        if environ["PATH_INFO"] == SEEN:
            return _answer(environ, start_response, _seen(wsgi_server(environ, start_response)))
        chosen = named.get(environ.get("HTTP_X_ENDPOINT"))
        if chosen is None:
            return default(environ, start_response)
        has_content = environ.get("CONTENT_LENGTH") or environ.get("HTTP_TRANSFER_ENCODING")
        # Some servers would wait for the end of content that an unsigned request does not have.
        return chosen(environ if has_content else {**environ, "wsgi.input": BytesIO()}, start_response)

    return app


_wsgi = wsgi_application(record)
wsgi_app = wsgi_chosen(
    wsgi.SignatureMiddleware(_wsgi, **OPTIONS), alone=_wsgi, optional=wsgi.SignatureMiddleware(_wsgi, **OPTIONAL)
)
application = wsgi_app  # the name that mod_wsgi imports


def a2wsgi_app():
    from a2wsgi import WSGIMiddleware  # noqa: PLC0415 - only one server needs it

    return WSGIMiddleware(wsgi_app)

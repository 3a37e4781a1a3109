"""An application that tells what it received, alone and behind the middleware of each profile, in one server.

The field X-Endpoint chooses: `alone`, the name of a profile, `optional` or `policy`.
"""

from __future__ import annotations

import hashlib
import json

from tests.honest.endpoints import PROFILES, verifier
from tests.honest.sender import HOST

from undersigned import Policy, asgi, profiles, wsgi

ORIGINS = [f"https://{HOST}"]
OPTIONS: dict[str, dict] = {name: {"verifier": verifier(profile)} for name, profile in PROFILES.items()}
OPTIONS["optional"] = {"verifier": verifier(profiles.ADCP_3_2), "mode": "optional"}
OPTIONS["policy"] = {"verifier": verifier(profiles.ADCP_3_2), "policy": Policy(required_for=["create_media_buy"])}


def told(method: str, path: str, query: str, body: bytes) -> bytes:
    received = [method, path, query, hashlib.sha256(body).hexdigest()]
    return json.dumps({"calls": received}).encode()


async def _asgi_alone(scope, receive, send) -> None:
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        more = message.get("more_body", False)
    answer = told(scope["method"], scope["path"], scope["query_string"].decode("latin-1"), body)
    fields = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": answer})


ASGI = {name: asgi.SignatureMiddleware(_asgi_alone, origins=ORIGINS, **chosen) for name, chosen in OPTIONS.items()}


async def asgi_app(scope, receive, send) -> None:
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
    endpoint = dict(scope["headers"]).get(b"x-endpoint", b"alone").decode()
    await ASGI.get(endpoint, _asgi_alone)(scope, receive, send)


def _wsgi_alone(environ, start_response):
    body = environ["wsgi.input"].read()
    path = environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
    answer = told(environ["REQUEST_METHOD"], path, environ["QUERY_STRING"], body)
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [answer]


WSGI = {name: wsgi.SignatureMiddleware(_wsgi_alone, origins=ORIGINS, **chosen) for name, chosen in OPTIONS.items()}


def wsgi_app(environ, start_response):
    return WSGI.get(environ.get("HTTP_X_ENDPOINT", ""), _wsgi_alone)(environ, start_response)

"""The seller: undersigned's middleware around an application that returns what it received.

Its origins, its keys and its log file are named by the JSON file in `UNDERSIGNED_SELLER`.
"""

from __future__ import annotations

import json
import logging
import os
import pathlib

from undersigned import KeySet, MemoryReplayStore, Verifier, asgi, profiles, wsgi


def asgi_app() -> asgi.SignatureMiddleware:
    """Return the application for uvicorn."""
    return asgi.SignatureMiddleware(_asgi_echo, **_options())


def wsgi_app() -> wsgi.SignatureMiddleware:
    """Return the application for gunicorn."""
    return wsgi.SignatureMiddleware(_wsgi_echo, **_options())


def _options() -> dict:
    said = json.loads(pathlib.Path(os.environ["UNDERSIGNED_SELLER"]).read_text())
    logger = logging.getLogger("undersigned")
    logger.addHandler(logging.FileHandler(said["log"]))
    # The fronts share a log, and some reject more requests of one code than get a line at WARNING.
    logger.setLevel(logging.DEBUG)
    keys = KeySet.from_jwks(said["jwks"])
    return {"verifier": Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore()), "origins": said["origins"]}


async def _asgi_echo(scope, receive, send) -> None:
    if scope["type"] == "lifespan":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    query = scope["query_string"]
    content = _say(scope["undersigned"].signature, scope["raw_path"] + (b"?" + query if query else b""), body)
    fields = [(b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": content})


def _wsgi_echo(environ, start_response):
    content = _say(environ["undersigned"].signature, environ["RAW_URI"].encode("latin-1"), environ["wsgi.input"].read())
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]


def _say(signature, target: bytes, body: bytes) -> bytes:
    said = {"target_uri": signature.target_uri, "target": target.decode("latin-1"), "body": body.decode("latin-1")}
    return json.dumps(said).encode()

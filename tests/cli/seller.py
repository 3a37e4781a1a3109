"""A real server with the middleware: it answers a verified request with what arrived."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.serving import uvicorn_server

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.asgi import SignatureMiddleware

if TYPE_CHECKING:
    from collections.abc import Iterator


async def echo(scope, receive, send) -> None:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    answer = {
        "method": scope["method"],
        "target": scope["raw_path"].decode() + ("?" + scope["query_string"].decode() if scope["query_string"] else ""),
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]],
        "body": body.hex(),
    }
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


@contextlib.contextmanager
def seller(public: str, app=echo, verifier: type[Verifier] | None = None, **options) -> Iterator[str]:
    """Serve an application behind the middleware, by AdCP or by a verifier of a class; yield its origin."""

    async def current(scope, receive, send) -> None:
        await middlewares[0](scope, receive, send)

    middlewares: list[SignatureMiddleware] = []
    with uvicorn_server(current) as port:
        origin = f"http://127.0.0.1:{port}"
        keys = KeySet.from_jwks(json.loads(Path(public).read_text()))
        made = verifier(keys=keys) if verifier else Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
        middlewares.append(SignatureMiddleware(app, verifier=made, origins=[origin], **options))
        yield origin

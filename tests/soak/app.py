"""The applications under the soak: they read the verified body and answer 200."""

from __future__ import annotations

import os

from tests.integrations.agreement import ORIGINS, Agreement

from undersigned import SqliteReplayStore, Verifier, asgi, profiles, wsgi
from undersigned.signature.key_source import KeySet


def _verifier() -> Verifier:
    store = SqliteReplayStore(os.environ["SOAK_STORE"])
    return Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(Agreement.make().jwks), replay=store)


def _wsgi(environ, start_response) -> list[bytes]:
    content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]


async def _asgi(_scope, receive, send) -> None:
    message = await receive()
    length = str(len(message["body"])).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
    await send({"type": "http.response.body", "body": message["body"]})


wsgi_app = wsgi.SignatureMiddleware(_wsgi, verifier=_verifier(), origins=ORIGINS)
asgi_app = asgi.SignatureMiddleware(_asgi, verifier=_verifier(), origins=ORIGINS, body_timeout=2)

"""Signers in front of an application, so that the requests of a test client arrive signed."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from undersigned.message.request import Request
from undersigned.wsgi.environ import field_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned.asgi import ASGIApp, Message, Receive, Scope, Send
    from undersigned.signature.signer import Signer
    from undersigned.wsgi import Environ, StartResponse, WSGIApp


def signing_asgi(app: ASGIApp, signer: Signer, *, origin: str) -> ASGIApp:
    """Return an application that signs each request and handshake, then calls `app` with it.

    For Starlette's TestClient and `httpx.ASGITransport`: `TestClient(signing_asgi(app, signer, origin=...))`.

    Args:
        app: the application, with its middleware.
        signer: the signer.
        origin: the origin that the requests are sent to, such as `https://seller.example.com`.
    """

    async def signing(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        is_http = scope["type"] == "http"
        content = await _content(receive) if is_http else b""
        messages: list[Message] = [{"type": "http.request", "body": content}] if is_http else []

        async def receive_next() -> Message:
            return messages.pop() if messages else await receive()

        raw_path = scope.get("raw_path") or quote(scope["path"]).encode("ascii")
        query = b"?" + scope["query_string"] if scope.get("query_string") else b""
        url = origin + (raw_path + query).decode("latin-1")
        kept = [(bytes(name), bytes(value)) for name, value in scope["headers"] if name.lower() != b"host"]
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in kept]
        signed = signer.sign(Request(scope.get("method", "GET"), url, fields, content))
        added = [("host", _host(origin)), *signed]
        headers = [*kept, *((name.lower().encode("ascii"), value.encode("ascii")) for name, value in added)]
        await app({**scope, "raw_path": raw_path, "headers": headers}, receive_next, send)

    return signing


def signing_wsgi(app: WSGIApp, signer: Signer, *, origin: str) -> WSGIApp:
    """Return an application that signs each request, then calls `app` with it.

    For Werkzeug's test client, which Flask's is: `Client(signing_wsgi(app, signer, origin=...))`.

    Args:
        app: the application, with its middleware.
        signer: the signer.
        origin: the origin that the requests are sent to, such as `https://seller.example.com`.
    """

    def signing(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        return app(sign_environ(environ, signer, origin=origin), start_response)

    return signing


def sign_environ(environ: Mapping[str, Any], signer: Signer, *, origin: str) -> Environ:
    """Return the environ of a signed request, with the raw target that a server would show.

    Args:
        environ: the environ of the request, as a test client makes it.
        signer: the signer.
        origin: the origin that the request is sent to.
    """
    path = f"{environ.get('SCRIPT_NAME', '')}{environ.get('PATH_INFO', '')}"
    query = environ.get("QUERY_STRING", "")
    target = environ.get("RAW_URI") or quote(path, encoding="latin-1") + (f"?{query}" if query else "")
    length = int(environ.get("CONTENT_LENGTH") or 0)
    content = environ["wsgi.input"].read(length) if length else b""
    kept = {name: value for name, value in environ.items() if name != "HTTP_HOST"}
    fields = [(name, value) for name, value in field_lines(kept) if name != "content-length"]
    signed = signer.sign(Request(environ["REQUEST_METHOD"], origin + target, fields, content))
    added = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in signed}
    return {**kept, **added, "HTTP_HOST": _host(origin), "RAW_URI": target, "wsgi.input": BytesIO(content)}


def _host(origin: str) -> str:
    return origin.partition("://")[2]


async def _content(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    more = True
    while more:
        message = await receive()
        chunks.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(chunks)

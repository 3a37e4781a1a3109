"""Scopes and environs as real servers make them of a request (measured), and one call of an application with each."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, unquote_to_bytes

from tests.wire import HOST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Message:
    """A request as it is on the wire. The target is octets as Latin-1."""

    target: str
    method: str = "POST"
    fields: Sequence[tuple[str, str]] = ()
    body: bytes = b""

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The header fields, with those that a client adds unless they are given."""
        given = {name.lower() for name, _ in self.fields}
        added = [("Host", HOST), *([("Content-Length", str(len(self.body)))] if self.body else [])]
        return [*[(name, value) for name, value in added if name.lower() not in given], *self.fields]

    @property
    def raw_path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]


def takes(message: Message) -> bool:
    """Return whether any server passes on a target of these octets; the rest never reaches an application."""
    target = message.target
    return target.startswith("/") and not any(octet <= " " or octet == "\x7f" for octet in target)


@dataclass
class Answer:
    """What the server gets back from the application."""

    status: int = 0
    content: bytes = b""
    fields: dict[str, str] = field(default_factory=dict)
    sent: list[dict] = field(default_factory=list)


def scope_of(message: Message, *, kind: str = "http", root_path: str = "", adds_root_path: bool = False) -> dict:
    """Return the ASGI scope that uvicorn, hypercorn, granian, daphne and gunicorn agree on.

    `adds_root_path` is uvicorn's `--root-path`: the root path is in front of `path` and `raw_path`.
    """
    raw = (root_path if adds_root_path else "") + message.raw_path
    scope: dict = {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 50_000),
        "scheme": "http" if kind == "http" else "ws",
        "root_path": root_path,
        "path": unquote(raw, "utf-8", "replace"),
        "raw_path": raw.encode("latin-1"),
        "query_string": message.query.encode("latin-1"),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in message.lines],
        "state": {},
        "extensions": {},
    }
    if kind == "websocket":
        return {**scope, "subprotocols": []}
    return {**scope, "method": message.method}


async def call_asgi(app, scope: dict, body: bytes = b"", *, most: int = 65_536) -> Answer:
    """Call an ASGI application as a server does; with a scope of lifespan, start it and stop it.

    The body comes in parts of `most` bytes.
    """
    answer = Answer()
    websocket = scope["type"] == "websocket"
    comes = {
        "http": [
            {"type": "http.request", "body": body[at : at + most], "more_body": at + most < len(body)}
            for at in range(0, len(body) or 1, most)
        ],
        "websocket": [{"type": "websocket.connect"}],
        "lifespan": [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}],
    }
    messages = iter(comes[scope["type"]])
    answered = asyncio.Event()
    gone = {"type": "websocket.disconnect", "code": 1001} if websocket else {"type": "http.disconnect"}

    async def receive() -> dict:
        message = next(messages, None)
        if message is None:
            # A client waits for its answer before it goes away.
            await answered.wait()
        return message or gone

    async def send(message: dict) -> None:
        answer.sent.append(message)
        if message["type"] in {"websocket.accept", "websocket.close"} or (
            message["type"] == "http.response.body" and not message.get("more_body")
        ):
            answered.set()
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            lines = message.get("headers", ())
            answer.fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in lines}
        elif message["type"] == "http.response.body":
            answer.content += message.get("body", b"")

    await app(scope, receive, send)
    return answer


def _gunicorn(message: Message, script_name: str) -> dict | None:
    path = message.raw_path
    if not path.startswith(script_name):
        return None
    return {"PATH_INFO": unquote_to_bytes(path[len(script_name) :]).decode("latin-1"), "RAW_URI": message.target}


def _waitress(message: Message, script_name: str) -> dict:
    path = "/" + unquote_to_bytes(message.raw_path).decode("latin-1").lstrip("/")
    if path == script_name:
        path = ""
    elif script_name and path.startswith(f"{script_name}/"):
        path = path[len(script_name) :]
    return {"PATH_INFO": path, "REQUEST_URI": message.target}


def _uwsgi(message: Message, script_name: str) -> dict | None:
    """Dot segments are gone; SCRIPT_NAME is the mount of the application."""
    segments: list[str] = []
    for segment in message.raw_path.split("/")[1:]:
        if segment == "..":
            del segments[-1:]
        elif segment != ".":
            segments.append(segment)
    path = unquote_to_bytes("/" + "/".join(segments)).decode("latin-1")
    if not path.startswith(script_name):
        return None
    return {"PATH_INFO": path[len(script_name) :], "REQUEST_URI": message.target}


def _mod_wsgi(message: Message, script_name: str) -> dict | None:
    """As uWSGI, with slashes merged and, by `AllowEncodedSlashes NoDecode`, encoded slashes kept."""
    kept = message.raw_path.replace("%2F", "%252F").replace("%2f", "%252f")
    while "//" in kept:
        kept = kept.replace("//", "/")
    if "%00" in kept:
        return None
    made = _uwsgi(Message(kept), script_name)
    return made and {**made, "REQUEST_URI": message.target}


def _werkzeug(message: Message, _script_name: str) -> dict:
    target = "/" + message.target.lstrip("/")
    path = unquote(target.partition("?")[0], "utf-8", "replace").encode().decode("latin-1")
    return {"PATH_INFO": path, "REQUEST_URI": target, "RAW_URI": target, "SERVER_SOFTWARE": "Werkzeug/3.1.9"}


DIALECTS: dict[str, Callable[[Message, str], dict | None]] = {
    "gunicorn": _gunicorn,
    "waitress": _waitress,
    "uwsgi": _uwsgi,
    "mod_wsgi": _mod_wsgi,
    "werkzeug": _werkzeug,
}
"""What each WSGI server makes of the target, or None if it rejects it."""

MOUNTS = {name: ("",) if name == "werkzeug" else ("", "/api") for name in DIALECTS}
"""The values of SCRIPT_NAME each server can be configured with."""


def environ_of(message: Message, dialect: str, *, script_name: str = "") -> dict | None:
    """Return the WSGI environ of a server, or None if the server answers by itself."""
    made = DIALECTS[dialect](message, script_name)
    if made is None:
        return None
    environ: dict = {
        "REQUEST_METHOD": message.method,
        "SCRIPT_NAME": script_name,
        "QUERY_STRING": message.query,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(message.body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        **made,
    }
    for name, value in message.lines:
        key = name.upper().replace("-", "_")
        key = key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ


def call_wsgi(app, environ: dict) -> Answer:
    """Call a WSGI application as a server does."""
    answer = Answer()

    def start_response(
        status: str, fields: list[tuple[str, str]], _exception: object = None
    ) -> Callable[[bytes], object]:
        answer.status = int(status[:3])
        answer.fields = {name.lower(): value for name, value in fields}
        return lambda _content: None

    content = app(environ, start_response)
    try:
        answer.content = b"".join(content)
    finally:
        close = getattr(content, "close", None)
        if close is not None:
            close()
    return answer

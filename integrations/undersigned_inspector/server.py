"""The server of the page, on 127.0.0.1: who reaches it, and the headers of every answer. It logs no request."""

from __future__ import annotations

import logging
import secrets
import socketserver
import sys
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .html import HTML

    Page = Callable[[str, Mapping[str, str]], HTML | None]
    """Takes the path below the token and the texts of the form; returns the page, or None if there is none."""

logger = logging.getLogger("undersigned")

MOST_BYTES: Final = 4_194_304
"""Upper bound on the bytes of what is pasted: a page must not fill the memory by accident."""
_MOST_DIGITS: Final = 9

_FILES: Final = {"page.css": "text/css", "icon.svg": "image/svg+xml"}
_FIELDS: Final = {
    # The page has no script, so that no text can become one.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class PageServer(socketserver.ThreadingTCPServer):
    """A server of a page on 127.0.0.1. It listens from the start, and answers while `serve_forever` runs.

    Only the person at this machine reaches the page. A request must name a loopback host and this port in Host, so no
    other name can be bound to the address (DNS rebinding). Its path must start with the token. A form must come from
    the page itself.

    Args:
        page: makes the page for a path and the texts of a form.
        port: the port, or 0 for any that is free.

    Attributes:
        url: the URL of the page, with its token.

    Raises:
        OSError: the port is in use.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, page: Page, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.page = page
        self.token = secrets.token_urlsafe(16)
        self.hosts = [f"{host}:{self.server_address[1]}" for host in ("127.0.0.1", "localhost")]
        self.url = f"http://{self.hosts[0]}/{self.token}/"

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - socketserver passes them
        """Log the kind of an error alone: its text may quote what was pasted."""
        kind = sys.exc_info()[0]
        if kind is not None and not issubclass(kind, OSError):
            logger.error("undersigned inspect: %s, a fault of the inspector: please report it", kind.__name__)


class _Handler(BaseHTTPRequestHandler):
    timeout = 30

    @property
    def _owner(self) -> PageServer:
        return cast("PageServer", self.server)

    def do_GET(self) -> None:
        path = self._path()
        if path in _FILES:
            self._answer(200, (files("undersigned_inspector") / path).read_bytes(), _FILES[path])
        elif path is not None:
            self._show(path, {})

    def do_POST(self) -> None:
        path = self._path()
        if path is None:
            return
        length = self.headers.get("content-length", "")
        if self.headers.get("origin") != f"http://{self.headers['host']}":
            self._answer(403)
        elif not length.isdecimal() or len(length) > _MOST_DIGITS or int(length) > MOST_BYTES:
            self._answer(413)
        else:
            content = self.rfile.read(int(length)).decode("ascii", "replace")
            # A form has CRLF for each line end of a text.
            texts = {name: text.replace("\r\n", "\n") for name, text in parse_qsl(content)}
            self._show(path, texts)

    def _path(self) -> str | None:
        """Return the path below the token, or answer a request that is not from the person at this machine."""
        token, slash, path = self.path[1:].partition("/")
        if self.headers.get_all("host", []) not in [[host] for host in self._owner.hosts]:
            self._answer(421)
        elif not secrets.compare_digest(token.encode(), self._owner.token.encode()) or not slash:
            self._answer(404)
        else:
            return path
        return None

    def _show(self, path: str, texts: Mapping[str, str]) -> None:
        try:
            shown = self._owner.page(path, texts)
        except Exception as error:
            self._answer(500, f"the inspector failed ({type(error).__name__}): this is its fault, not yours".encode())
            raise
        if shown is None:
            self._answer(404)
        else:
            self._answer(200, shown.encode("utf-8", "replace"), "text/html; charset=utf-8")

    def _answer(self, status: int, content: bytes = b"", kind: str = "text/plain") -> None:
        self.send_response_only(status)
        for name, value in {**_FIELDS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer a request that is not HTTP or has another method, without its text."""
        self._answer(code)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the standard library
        """Log nothing: a path has the token."""

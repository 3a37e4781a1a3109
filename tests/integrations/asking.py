"""A server that verifies by a profile of its own, and asks for what a signature lacks."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from tests.keys import KEYS

from undersigned import MemoryReplayStore, Request, SignatureError, Verifier
from undersigned.middleware import ErrorResponse
from undersigned.profiles import ADCP_3_2

if TYPE_CHECKING:
    from collections.abc import Iterator

ASKS_MORE = ADCP_3_2.derive(
    name="asks-more",
    coverage=replace(
        ADCP_3_2.coverage, always=(*ADCP_3_2.coverage.always, "@path", '"@query-param";name="a"', "x-plan")
    ),
)
FIELDS = {"Content-Type": "application/json", "X-Plan": "gold", "X-Other": "lead"}
PATH = "/orders?a=1"


class Asking(ThreadingHTTPServer):
    """The server, with the requests that it got and their contents.

    Attributes:
        wanted: what it asks for, whatever was signed; None: what its profile wants.
    """

    daemon_threads = True

    def __init__(self, wanted: str | None, status: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        self.wanted = wanted
        self.status = status
        self.verifier = Verifier(ASKS_MORE, keys=KEYS, replay=MemoryReplayStore())
        self.requests: list[Request] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(self.command, server.origin + self.path, self.headers.items(), body)
        server.requests.append(request)
        if server.wanted is not None:
            self.answer(server.status, [("Accept-Signature", server.wanted)], b"no")
            return
        try:
            server.verifier.verify(request)
        except SignatureError as error:
            answer = ErrorResponse.of(error)
            fields = [field for field in answer.fields if field[0] != "Content-Length"]
            self.answer(answer.status, fields, answer.body)
        else:
            self.answer(200, [], b"verified")

    do_POST = do_GET  # noqa: N815 - the name that http.server calls

    def answer(self, status: int, fields: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in (*fields, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments) -> None:
        """Say nothing."""


@contextlib.contextmanager
def asking(wanted: str | None = None, status: int = 401) -> Iterator[Asking]:
    server = Asking(wanted, status)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()

"""Routes: a network between the doctor and an application, on loopback, with the real middleware behind it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from socketserver import StreamRequestHandler, TCPServer
from typing import TYPE_CHECKING

from tests import keys
from tests.drive import Message, call_wsgi, environ_of
from tests.integrations.capture import threaded

from undersigned import MemoryReplayStore, Verifier, profiles
from undersigned.wsgi import SignatureMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Arrived:
    """A request as it arrives at the server."""

    method: str
    target: str
    host: str
    fields: list[tuple[str, str]]
    content: bytes
    chunked: bool


@dataclass
class Answer:
    """An answer that does not come from the application."""

    status: int
    fields: tuple[tuple[str, str], ...] = ()
    content: bytes = b""

    @classmethod
    def rejection(cls, code: str, status: int = 401) -> Answer:
        return cls(status, (("WWW-Authenticate", f'Signature error="{code}"'),))


class Route(TCPServer):
    """A route to a server that changes requests, and strips a prefix from their targets.

    `change` returns the request that arrives, an `Answer` instead of the server's, or None to close the connection. In
    `origins`, HOST stands for the host and the port of the route. A server may not show where chunked content ends.
    """

    def __init__(
        self,
        change: Callable[[Arrived], Arrived | Answer | None] = lambda arrived: arrived,
        *,
        origins: tuple[str, ...] = ("http://HOST",),
        prefix: str = "",
        status: str = "404 Not Found",
        terminated: bool = True,
        **options,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.authority = f"127.0.0.1:{self.server_address[1]}"
        self.change, self.prefix, self.status, self.terminated = change, prefix, status, terminated
        self.sent: list[Arrived] = []
        verifier = Verifier(profiles.ADCP_3_2, keys=keys.KEYS, replay=MemoryReplayStore())
        options = {"verifier": verifier, **options}
        named = [origin.replace("HOST", self.authority) for origin in origins]
        self.middleware = SignatureMiddleware(self._application, origins=named, **options)

    @contextmanager
    def running(self) -> Iterator[str]:
        """Serve; yields the URL of the route."""
        with threaded(self):
            yield f"http://{self.authority}"

    def answer(self, arrived: Arrived) -> Answer:
        fields = [("Host", arrived.host), *arrived.fields]
        target = arrived.target.removeprefix(self.prefix)
        environ = environ_of(Message(target, arrived.method, fields, arrived.content), "gunicorn")
        if arrived.chunked:
            environ.pop("CONTENT_LENGTH", None)
            environ |= {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": self.terminated}
        made = call_wsgi(self.middleware, environ)
        return Answer(made.status, tuple(made.fields.items()), made.content)

    def _application(self, _environ, start_response):
        start_response(self.status, [])
        return [json.dumps({"error": "of its own"}).encode()]


class _Connection(StreamRequestHandler):
    def handle(self) -> None:
        route = self.server
        method, target, _ = self.rfile.readline().decode("latin-1").split(" ")
        lines = iter(lambda: self.rfile.readline().decode("latin-1").rstrip("\r\n"), "")
        fields = dict(line.split(": ", 1) for line in lines)
        chunked = fields.pop("Transfer-Encoding", "") == "chunked"
        content = self._chunks() if chunked else self.rfile.read(int(fields.pop("Content-Length", "0")))
        arrived = Arrived(method, target, fields.pop("Host"), list(fields.items()), content, chunked)
        route.sent.append(arrived)
        changed = route.change(arrived)
        if changed is None:
            return
        answer = changed if isinstance(changed, Answer) else route.answer(changed)
        head = [f"HTTP/1.1 {answer.status} Any", *(f"{name}: {value}" for name, value in answer.fields)]
        content = b"" if method == "HEAD" else answer.content
        self.wfile.write("\r\n".join([*head, "Connection: close", "", ""]).encode("latin-1") + content)

    def _chunks(self) -> bytes:
        content = b""
        while size := int(self.rfile.readline(), 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

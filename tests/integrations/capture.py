"""A server on a raw socket that keeps the bytes of each request."""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, TypeVar

from undersigned import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from socketserver import BaseServer

    Server = TypeVar("Server", bound=BaseServer)

BUSY = b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
DROPPED = b""
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True)
class Sent:
    """One HTTP/1.1 request as it was on the wire."""

    head: bytes
    body: bytes

    @property
    def method(self) -> str:
        return self.head.split(b" ", 1)[0].decode("ascii")

    @property
    def target(self) -> str:
        return self.head.split(b"\r\n", 1)[0].split(b" ")[1].decode("ascii")

    @property
    def fields(self) -> list[tuple[str, str]]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]

    def lines(self, name: str) -> list[str]:
        return [value for field_name, value in self.fields if field_name == name]

    def request(self) -> Request:
        """The request as a receiver reads it off the wire."""
        (host,) = self.lines("host")
        has_body = bool(self.body) or bool(self.lines("transfer-encoding"))
        return Request(self.method, f"http://{host}{self.target}", self.fields, self.body, has_body=has_body)


@dataclass
class Capture:
    """What a capturing server was sent."""

    port: int
    sent: list[Sent] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def only(self) -> Sent:
        (sent,) = self.sent
        return sent


@contextlib.contextmanager
def capturing(*, answer: bytes = OK, first: Iterable[bytes] = ()) -> Iterator[Capture]:
    """Capture requests, one a connection, and answer each; the `first` ones otherwise, with nothing for `b""`."""
    listening = socket.create_server(("127.0.0.1", 0))
    capture = Capture(listening.getsockname()[1])
    with accepting(listening, _serve, capture, chain(first, repeat(answer))):
        yield capture


def redirect(to: str) -> bytes:
    """A redirect of any request, with its content."""
    return f"HTTP/1.1 307 X\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


@contextlib.contextmanager
def threaded(server: Server) -> Iterator[Server]:
    """Run a server of socketserver in a thread until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


@contextlib.contextmanager
def accepting(listening: socket.socket, serve: Callable[..., None], *arguments: object) -> Iterator[None]:
    """Call `serve` with a socket and further arguments in a thread, which accepts connections until the block ends."""
    thread = threading.Thread(target=serve, args=(listening, *arguments), daemon=True)
    thread.start()
    try:
        yield
    finally:
        # Closing alone does not wake a thread that waits in accept().
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        listening.close()


def _serve(listening: socket.socket, capture: Capture, answers: Iterator[bytes]) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        connection.settimeout(10)
        with contextlib.suppress(OSError), connection:
            capture.sent.append(read_sent(connection))
            connection.sendall(next(answers))


def read_sent(connection: socket.socket) -> Sent:
    """Read one request off a connection.

    Raises:
        ConnectionError: the client closed it before the request was complete.
    """
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, rest = received.partition(b"\r\n\r\n")
    sent = Sent(head, b"")
    if sent.lines("transfer-encoding"):
        while not rest.endswith(b"0\r\n\r\n"):
            rest += _more(connection)
        return Sent(head, _join_chunks(rest))
    length = int((sent.lines("content-length") or ["0"])[0])
    while len(rest) < length:
        rest += _more(connection)
    return Sent(head, rest)


def _more(connection: socket.socket) -> bytes:
    received = connection.recv(65536)
    if not received:
        raise ConnectionError("closed before the request was complete")
    return received


def _join_chunks(chunks: bytes) -> bytes:
    body = b""
    while chunks:
        size, _, chunks = chunks.partition(b"\r\n")
        body += chunks[: int(size, 16)]
        chunks = chunks[int(size, 16) + 2 :]
    return body

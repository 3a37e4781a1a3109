"""A key server on the loopback interface that does exactly what a test tells it, over real TLS."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from typing import TYPE_CHECKING

import pytest

from undersigned import KeySourceError
from undersigned.discovery import Network

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOSTS = (
    *("keys.example.com", "agent.example.com", "brand.example.com", "evil.example.net", "cdn.example.com"),
    *("co.uk", "localhost", "a.github.io", "b.github.io", "x.a.github.io", "a.b.example.co.uk", "example.co.uk"),
    "2606:4700::1111",
    *("one.example", "two.example", "three.example", "a.one.example", "b.one.example", "c.one.example"),
)


class KeyServer:
    """Answers each path with what `answers` holds for it: bytes to send, or a function of connection and request."""

    def __init__(self, pem: Path) -> None:
        self._pem = pem
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(pem)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._closed = threading.Event()
        self.port: int = self._listening.getsockname()[1]
        self.answers: dict[str, bytes | Callable[[ssl.SSLSocket, bytes], None]] = {}
        self.requests: list[bytes] = []
        self.hold = threading.Event()
        self.hold.set()
        self._came = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, path: str = "/jwks.json", host: str = "keys.example.com") -> str:
        return f"https://{host}:{self.port}{path}"

    def network(self, **options) -> Network:
        """A network in which every name is this server's. A busy machine does not end a wait for it."""
        return network_of(self._pem, **{"wait_timeout": 60, **options})

    def asked(self, path: str = "/jwks.json") -> int:
        """How many requests there were for `path`."""
        return sum(request.split(b" ", 2)[1] == path.encode() for request in self.requests)

    def wait_for(self, count: int) -> None:
        """Wait until `count` requests have come."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.requests) >= count, timeout=20)

    def close(self) -> None:
        self._closed.set()
        self.hold.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError), plain, self._context.wrap_socket(plain, server_side=True) as connection:
            connection.settimeout(20)
            request = b""
            while b"\r\n\r\n" not in request:
                received = connection.recv(65536)
                if not received:
                    return
                request += received
            head, _, content = request.partition(b"\r\n\r\n")
            length = next(
                (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
            )
            while len(content) < length:
                received = connection.recv(65536)
                if not received:
                    return
                content += received
            request = head + b"\r\n\r\n" + content
            with self._came:
                self.requests.append(request)
                self._came.notify_all()
            self.hold.wait(20)
            answer = self.answers.get(request.split(b" ", 2)[1].decode(), response(b"", status="404 Not Found"))
            if isinstance(answer, bytes):
                connection.sendall(answer)
            else:
                answer(connection, request)
            # Everything was sent; what is left in the buffer of an impolite close would be lost otherwise.
            with contextlib.suppress(OSError):
                connection.unwrap()

    def slowly(self, text: bytes, *, seconds: float) -> Callable[[ssl.SSLSocket, bytes], None]:
        """An answer sent one byte at a time."""

        def send(connection: ssl.SSLSocket, _request: bytes) -> None:
            for byte in text:
                connection.sendall(bytes([byte]))
                if self._closed.wait(seconds):
                    return

        return send

    def endlessly(self, start: bytes, chunk: bytes) -> Callable[[ssl.SSLSocket, bytes], None]:
        """An answer that never ends."""

        def send(connection: ssl.SSLSocket, _request: bytes) -> None:
            connection.sendall(start)
            while not self._closed.is_set():
                connection.sendall(chunk)

        return send


def failure(ask, *arguments, **options) -> KeySourceError:
    """The error of a source that is asked."""
    with pytest.raises(KeySourceError) as raised:
        ask(*arguments, **options)
    return raised.value


def network_of(pem: Path, **options) -> Network:
    """A network in which every name is of a server on the loopback interface with this certificate."""
    tls = ssl.create_default_context(cafile=pem)
    return Network(**{"allowed": ["127.0.0.0/8"], "resolve": _addresses, "tls": tls, **options})


def _addresses(host: str, _port: int) -> list[str]:
    return ["127.0.0.1" if host[-1].isalpha() else host]


def response(body: bytes | object, *fields: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """A response with a body of bytes or JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", *fields, f"Content-Length: {len(content) if length is None else length}"]
    return "\r\n".join([*lines, "", ""]).encode() + content


def redirect(location: str, *fields: str) -> bytes:
    return response(b"", f"Location: {location}", *fields, status="302 Found")

"""A wire between a client and a server: it forwards one request after the other, and can change each on its way."""

from __future__ import annotations

import re
import socket
import socketserver
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.wire import read_response

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Message:
    """One HTTP/1.1 request, as it is on the wire."""

    method: str
    target: str
    fields: tuple[tuple[str, str], ...]
    content: bytes

    @classmethod
    def read(cls, connection: socket.socket) -> Message:
        received = b""
        while b"\r\n\r\n" not in received:
            received += _more(connection)
        head, _, content = received.partition(b"\r\n\r\n")
        start, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = start.split(" ")
        fields = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
        length = next((int(value) for name, value in fields if name.lower() == "content-length"), 0)
        while len(content) < length:
            content += _more(connection)
        return cls(method, target, fields, content)

    def written(self) -> bytes:
        kept = [(name, value) for name, value in self.fields if name.lower() not in {"connection", "content-length"}]
        length = [("Content-Length", str(len(self.content)))] if self.content else []
        fields = [*kept, *length, ("Connection", "close")]
        lines = [f"{self.method} {self.target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields), "", ""]
        return "\r\n".join(lines).encode("latin-1") + self.content

    def field(self, name: str) -> str:
        return ", ".join(value for given, value in self.fields if given.lower() == name)

    def with_field(self, name: str, change: Callable[[str], str]) -> Message:
        fields = [(given, change(value) if given.lower() == name else value) for given, value in self.fields]
        return replace(self, fields=tuple(fields))


def _more(connection: socket.socket) -> bytes:
    chunk = connection.recv(65536)
    assert chunk, "the client went away"
    return chunk


class Wire:
    """A forwarder on loopback. Both ends know the service by its port.

    Attributes:
        port: the port of the wire.
        server: the port that it forwards to.
        change: changes a request on its way.
        answer: changes a response on its way.
        seen: the request that was forwarded last, as it was sent.
    """

    def __init__(self) -> None:
        self.server = 0
        self.change: Callable[[Message], Message] = keep
        self.answer: Callable[[bytes], bytes] = bytes
        self.seen: Message | None = None
        wire = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                self.request.settimeout(30)
                wire.seen = Message.read(self.request)
                with socket.create_connection(("127.0.0.1", wire.server), timeout=30) as onward:
                    onward.sendall(wire.change(wire.seen).written())
                    self.request.sendall(wire.answer(read_response(onward)))

        self._listener = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._listener.daemon_threads = True
        self.port: int = self._listener.server_address[1]
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._listener.shutdown()
        self._thread.join(10)
        self._listener.server_close()


def keep(message: Message) -> Message:
    return message


def _earlier(value: str) -> str:
    return re.sub(r";created=(\d+)", lambda match: f";created={int(match[1]) - 1}", value)


def _flip(value: str) -> str:
    """Another first character of the Base64 is another first byte."""
    label, _, text = value.partition("=:")
    return f"{label}=:{'B' if text[0] == 'A' else 'A'}{text[1:]}"


TAMPERINGS: dict[str, Callable[[Message], Message]] = {
    "method": lambda message: replace(message, method="PUT"),
    "target": lambda message: replace(message, target=message.target.replace("plan=gold", "plan=lead")),
    "field": lambda message: message.with_field("content-type", lambda _value: "application/jsonp"),
    "content": lambda message: replace(message, content=message.content.replace(b"gold", b"lead")),
    "parameter": lambda message: message.with_field("signature-input", _earlier),
    "signature": lambda message: message.with_field("signature", _flip),
}
"""What is changed of a signed request on its way. All of it is covered."""

"""A wire between a client and a server: it forwards one request after the other, and can change each on its way."""

from __future__ import annotations

import re
import socket
import socketserver
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.integrations.capture import read_sent
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
        sent = read_sent(connection)
        return cls(sent.method, sent.target, tuple(sent.fields), sent.body)

    def written(self) -> bytes:
        framing = {"connection", "content-length", "transfer-encoding"}
        kept = [(name, value) for name, value in self.fields if name not in framing]
        length = [("Content-Length", str(len(self.content)))] if self.content else []
        fields = [*kept, *length, ("Connection", "close")]
        lines = [f"{self.method} {self.target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields), "", ""]
        return "\r\n".join(lines).encode("latin-1") + self.content

    def field(self, name: str) -> str:
        return ", ".join(value for given, value in self.fields if given == name)

    def with_field(self, name: str, change: Callable[[str], str]) -> Message:
        fields = [(given, change(value) if given == name else value) for given, value in self.fields]
        return replace(self, fields=tuple(fields))


class Wire:
    """A forwarder on loopback. Both ends know the service by its port.

    Attributes:
        listener: its server, which forwards while it runs.
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

        self.listener = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.listener.daemon_threads = True
        self.port: int = self.listener.server_address[1]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


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

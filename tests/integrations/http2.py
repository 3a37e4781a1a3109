"""An HTTP/2 server on a raw socket, without TLS, that keeps each request."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded
from tests.integrations.capture import accepting
from tests.integrations.seller import make_verifier

from undersigned import Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OK = [(":status", "200")]
BUSY = [(":status", "503"), ("retry-after", "0")]
MOVED = [(":status", "307"), ("location", "/n")]


@dataclass
class Sent:
    """One HTTP/2 request as it was on the wire."""

    fields: list[tuple[str, str]]
    body: bytes = b""

    @property
    def named(self) -> dict[str, str]:
        return dict(self.fields)

    def request(self) -> Request:
        """The request as a receiver reads it."""
        named = self.named
        plain = [(name, value) for name, value in self.fields if name[0] != ":"]
        return Request(named[":method"], f"http://{named[':authority']}{named[':path']}", plain, self.body)


@dataclass
class Capture:
    """What a capturing server was sent."""

    port: int
    sent: list[Sent] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def signers(self) -> list[str]:
        """The key that signed each request, as a seller verifies it."""
        verifier = make_verifier()
        return [verifier.verify(sent.request()).keyid for sent in self.sent]


@contextlib.contextmanager
def capturing_http2(first: Iterable[list[tuple[str, str]]] = ()) -> Iterator[Capture]:
    """Capture the requests of one connection after the other, and answer 200; the `first` ones otherwise."""
    listening = socket.create_server(("127.0.0.1", 0))
    capture = Capture(listening.getsockname()[1])
    with accepting(listening, _serve, capture, chain(first, repeat(OK))):
        yield capture


def _serve(listening: socket.socket, capture: Capture, answers: Iterator[list[tuple[str, str]]]) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with connection:
                _serve_one(connection, capture, answers)


def _serve_one(connection: socket.socket, capture: Capture, answers: Iterator[list[tuple[str, str]]]) -> None:
    state = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
    state.initiate_connection()
    connection.sendall(state.data_to_send())
    open_streams: dict[int, Sent] = {}
    while received := connection.recv(65536):
        for event in state.receive_data(received):
            match event:
                case RequestReceived(headers=headers, stream_id=number):
                    open_streams[number] = Sent([(str(name), str(value)) for name, value in headers])
                case DataReceived(data=data, flow_controlled_length=length, stream_id=number):
                    open_streams[number].body += data
                    state.acknowledge_received_data(length, number)
                case StreamEnded(stream_id=number):
                    capture.sent.append(open_streams.pop(number))
                    state.send_headers(number, next(answers), end_stream=True)
        connection.sendall(state.data_to_send())

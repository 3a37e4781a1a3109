"""An HTTP/2 client that sends anything unchecked, over cleartext with prior knowledge."""

from __future__ import annotations

import contextlib
import socket
import ssl
from dataclasses import dataclass

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset

_FRAME = 16_384


@dataclass(frozen=True)
class Answer:
    """An answer: a status, or a word that describes how the request ended without one."""

    status: int
    ended: str
    content: bytes


def exchange(
    port: int, fields, content: bytes | None = None, trailers=None, *, timeout: float = 30, tls: bool = False
) -> Answer:
    """Send `fields` (with the pseudo-fields) unchanged, then the content, then the trailers."""
    configuration = H2Configuration(
        validate_outbound_headers=False, normalize_outbound_headers=False, validate_inbound_headers=False
    )
    connection = H2Connection(configuration)
    with _connect(port, timeout, tls=tls) as stream:
        connection.initiate_connection()
        connection.send_headers(1, fields, end_stream=content is None)
        if content is not None:
            for at in range(_FRAME, len(content) + _FRAME, _FRAME):
                last = trailers is None and at >= len(content)
                connection.send_data(1, content[at - _FRAME : at], end_stream=last)
            if not content:
                connection.send_data(1, b"", end_stream=trailers is None)
        if trailers is not None:
            connection.send_headers(1, trailers, end_stream=True)
        _send(connection, stream)
        return _answer(connection, stream)


def _connect(port: int, timeout: float, *, tls: bool) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=timeout)
    if not tls:
        return connection
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(connection)


def _send(connection: H2Connection, stream: socket.socket) -> None:
    # A server may answer and close before it has all. Its answer is still there to be read.
    with contextlib.suppress(ConnectionError):
        stream.sendall(connection.data_to_send())


def _answer(connection: H2Connection, stream: socket.socket) -> Answer:
    status, content = 0, b""
    while True:
        try:
            received = stream.recv(65536)
        except (TimeoutError, ConnectionError) as failure:
            return Answer(status, type(failure).__name__, content)
        if not received:
            return Answer(status, "closed", content)
        for event in connection.receive_data(received):
            match event:
                case ResponseReceived(headers=headers):
                    status = int(dict(headers)[b":status"])
                case DataReceived(data=data, flow_controlled_length=length):
                    content += data
                    connection.acknowledge_received_data(length, 1)
                case StreamEnded() | StreamReset() | ConnectionTerminated():
                    return Answer(status, type(event).__name__, content)
        _send(connection, stream)

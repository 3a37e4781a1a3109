"""A client that sends probes over HTTP/2 (RFC 9113), with the package h2."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError

from undersigned.cli.connection import NoAnswer, connect_tls
from undersigned.cli.doctor.probe import Answer

if TYPE_CHECKING:
    import socket

    from h2.events import Event

    from undersigned.cli.doctor.probe import Probe, ProbeClient

_AT_ONCE: Final = 65_536
_MOST_OCTETS: Final = 131_072
_STREAM: Final = 1
_WINDOW: Final = 65_535
"""Bytes of content that a server may send before it is asked for more (RFC 9113 section 6.9.2). It is never asked."""

_STATUS: Final = re.compile("[1-5][0-9]{2}")


@dataclass(frozen=True, slots=True)
class HTTP2Client:
    """A client that sends probes over HTTP/2 to one server only, each over its own connection.

    Attributes:
        client: the client of the same server over HTTP/1.1.
    """

    client: ProbeClient

    def ask(self, probe: Probe) -> Answer:
        """Send `probe`, which has no content, and read the answer.

        Raises:
            NoAnswer: the server cannot be reached, is not trusted, is silent, or does not answer with HTTP/2.
        """
        client = self.client
        with connect_tls(client.site, ["h2"], timeout=client.timeout, tls=client.tls) as connection:
            try:
                received = _exchange(connection, probe, client.site.scheme)
            except ProtocolError:
                raise NoAnswer("the answer is not HTTP/2") from None
        if not received.status:
            raise NoAnswer("the server ended the stream without an answer")
        return Answer.of(received.status, received.fields, bytes(received.content))


@dataclass(slots=True)
class _Received:
    """The part of an answer that has been received."""

    status: int = 0
    fields: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    content: bytearray = field(default_factory=bytearray)
    has_ended: bool = False

    def take(self, event: Event) -> None:
        """Add what an event says to the answer."""
        match event:
            case ResponseReceived(headers=headers):
                fields = [(_text(name), _text(value)) for name, value in headers]
                status = dict(fields).get(":status", "")
                self.status = int(status) if _STATUS.fullmatch(status) else 0
                self.fields = fields
            case DataReceived(data=data):
                self.content += data
                self.has_ended |= len(self.content) >= _WINDOW
            case StreamEnded() | StreamReset() | ConnectionTerminated():
                self.has_ended = True
            case _:
                pass


def _exchange(connection: socket.socket, probe: Probe, scheme: str) -> _Received:
    http = H2Connection(H2Configuration(client_side=True))
    http.initiate_connection()
    own = [(":method", probe.method), (":scheme", scheme), (":authority", probe.host), (":path", probe.target)]
    own += [("user-agent", "undersigned-doctor"), *((name.lower(), value) for name, value in probe.fields)]
    http.send_headers(_STREAM, own, end_stream=True)
    received = _Received()
    read = 0
    while not received.has_ended and read < _MOST_OCTETS:
        connection.sendall(http.data_to_send())
        octets = connection.recv(_AT_ONCE)
        read += len(octets)
        received.has_ended = not octets
        for event in http.receive_data(octets):
            received.take(event)
    return received


def _text(octets: bytes | str) -> str:
    return octets.decode("latin-1") if isinstance(octets, bytes) else octets

"""An HTTP/1.1 client that reads responses as strictly as RFC 9112 frames them, so that an octet too many is seen."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

_STATUS = re.compile(rb"HTTP/1\.[0-9] ([1-5][0-9][0-9]) [^\r\n]*")


class Desync(Exception):
    """Raised when the octets on the connection are not the responses to what was sent."""


@dataclass(frozen=True)
class Response:
    """A response.

    Attributes:
        status: the status code.
        content: the content.
        closes: whether the server says that it closes the connection.
        interim: how many 1xx responses came before it.
    """

    status: int
    content: bytes
    closes: bool
    interim: int = 0


class Connection:
    """A connection on which requests are sent as octets.

    Args:
        port: the server's, on loopback.
        seconds: how long to wait for octets.
    """

    def __init__(self, port: int, seconds: float = 3) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self._read = b""
        self.ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, octets: bytes) -> None:
        """Send what the server still takes; one that has closed may have answered before."""
        try:
            self._socket.sendall(octets)
        except OSError:
            self.ended = True

    def response(self, method: str) -> Response | None:
        """Return the next final response, or None if the server closed the connection before one.

        Raises:
            Desync: octets that are no response.
            TimeoutError: the server says nothing.
        """
        interim = 0
        while True:
            found = self._one(method)
            if found is None or found.status >= 200 or found.status == 101:
                return found and Response(found.status, found.content, found.closes, interim)
            interim += 1

    def rest(self, seconds: float) -> bytes:
        """Return what else comes, which is nothing if the server answers only what it is asked."""
        self._socket.settimeout(seconds)
        try:
            while self._receive():
                pass
        except TimeoutError:
            pass
        rest, self._read = self._read, b""
        return rest

    def _one(self, method: str) -> Response | None:
        while b"\r\n\r\n" not in self._read:
            if self._read and not b"HTTP/1.".startswith(self._read[:7]):
                raise Desync(f"{self._read[:60]!r} is where a response should start")
            if not self._receive():
                if self._read:
                    raise Desync(f"the connection ends inside of a response: {self._read[:60]!r}")
                return None
        head, _, self._read = self._read.partition(b"\r\n\r\n")
        line, *fields = head.split(b"\r\n")
        match = _STATUS.fullmatch(line)
        if match is None:
            raise Desync(f"{line[:60]!r} is where a status line should be")
        named = [field.partition(b":")[::2] for field in fields]
        values = {name.strip().lower(): value.strip().lower() for name, value in named}
        status = int(match[1])
        closes = values.get(b"connection") == b"close" or line.startswith(b"HTTP/1.0")
        if method == "HEAD" or status < 200 or status in {204, 304}:
            return Response(status, b"", closes)
        if values.get(b"transfer-encoding") == b"chunked":
            return Response(status, self._chunked(), closes)
        if b"content-length" in values:
            return Response(status, self._exactly(int(values[b"content-length"])), closes)
        while self._receive():
            pass
        content, self._read = self._read, b""
        return Response(status, content, closes=True)

    def _chunked(self) -> bytes:
        content = b""
        while True:
            while b"\r\n" not in self._read:
                if not self._receive():
                    raise Desync("the connection ends inside of a chunk")
            size, _, self._read = self._read.partition(b"\r\n")
            chunk = self._exactly(int(size, 16) + 2)
            content += chunk[:-2]
            if len(chunk) == 2:
                return content

    def _exactly(self, size: int) -> bytes:
        while len(self._read) < size:
            if not self._receive():
                raise Desync("the connection ends inside of the content of a response")
        content, self._read = self._read[:size], self._read[size:]
        return content

    def _receive(self) -> bool:
        try:
            octets = self._socket.recv(65536)
        except ConnectionError:
            octets = b""
        self._read += octets
        self.ended = self.ended or not octets
        return bool(octets)

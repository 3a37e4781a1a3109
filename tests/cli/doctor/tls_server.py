"""A server over TLS that speaks HTTP/1.1 and, if it offers it, HTTP/2, in front of an application in this process."""

from __future__ import annotations

import contextlib
import socketserver
import ssl
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived

from undersigned.cli.doctor.probe import Answer, Probe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass
class TLSServer:
    """A server whose answers `ask` gives.

    Attributes:
        certificate: the file of its certificate and key.
        ask: answers a probe.
        protocols: what it offers.
        respond: answers over HTTP/2 in another way, given the connection.
        fields: header fields of every answer.
        asked: the probes that came over HTTP/2.
    """

    certificate: Path
    ask: Callable[[Probe], Answer] = lambda _probe: Answer(404, "")
    protocols: tuple[str, ...] = ("h2", "http/1.1")
    respond: Callable[[H2Connection], None] | None = None
    fields: tuple[tuple[str, str], ...] = ()
    asked: list[Probe] = field(default_factory=list)

    @contextlib.contextmanager
    def serving(self) -> Iterator[int]:
        """Serve in threads, and yield the port."""
        outer, tls = self, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.certificate)
        tls.set_alpn_protocols(list(self.protocols))

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError), tls.wrap_socket(self.request, server_side=True) as connection:
                    (outer._http2 if connection.selected_alpn_protocol() == "h2" else outer._http1)(connection)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        with Server(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            try:
                yield server.server_address[1]
            finally:
                server.shutdown()
                thread.join(10)

    def _http1(self, connection: ssl.SSLSocket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            octets = connection.recv(65536)
            if not octets:
                # A client may only look which protocols are offered.
                return
            head += octets
        request_line, *lines = head.partition(b"\r\n\r\n")[0].decode().split("\r\n")
        method, target, _ = request_line.split(" ")
        fields = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        host = next(value for name, value in fields if name == "Host")
        signed = tuple(one for one in fields if one[0] not in {"Host", "User-Agent", "Connection"})
        answer = self.ask(Probe(method, target, host, signed))
        said = "".join(f"{name}: {value}\r\n" for name, value in self._fields(answer))
        connection.sendall(f"HTTP/1.1 {answer.status} X\r\ncontent-length: 0\r\n{said}\r\n".encode())

    def _http2(self, connection: ssl.SSLSocket) -> None:
        http = H2Connection(
            H2Configuration(client_side=False, header_encoding="utf-8", validate_outbound_headers=False)
        )
        http.initiate_connection()
        connection.sendall(http.data_to_send())
        while octets := connection.recv(65536):
            for event in http.receive_data(octets):
                if isinstance(event, RequestReceived):
                    self._answer_http2(http, event)
            connection.sendall(http.data_to_send())

    def _answer_http2(self, http: H2Connection, event: RequestReceived) -> None:
        pseudo = {name: value for name, value in event.headers if name[0] == ":"}
        signed = [(name.title(), value) for name, value in event.headers if name[0] != ":" and name != "user-agent"]
        probe = Probe(pseudo[":method"], pseudo[":path"], pseudo[":authority"], tuple(signed))
        self.asked.append(probe)
        if self.respond is not None:
            self.respond(http)
            return
        answer = self.ask(probe)
        http.send_headers(1, [(":status", str(answer.status)), *self._fields(answer)], end_stream=False)
        http.send_data(1, b"{}", end_stream=True)

    def _fields(self, answer: Answer) -> list[tuple[str, str]]:
        challenge = [("www-authenticate", f'Signature error="{answer.stated}"')] if answer.stated else []
        return [*challenge, *self.fields]

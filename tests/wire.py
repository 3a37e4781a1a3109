"""Requests and answers as they are on the wire, and the ways a request is changed after it was signed."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

import h11

if TYPE_CHECKING:
    from tests.keys import Party

HOST = "seller.example.com"
OTHER_HOST = "other.example.com"
BODY = b'{"plan_id":"plan_001"}'
TOO_MANY = "request_header_fields_too_large"


def raw_request(method: str, target: str, fields=(), body: bytes = b"", *, host: str | None = HOST) -> bytes:
    """The bytes of an HTTP/1.1 request. Host, unless it is None, and Content-Length are added unless they are given."""
    given = {name.lower() for name, _ in fields}
    lines = [f"{method} {target} HTTP/1.1"]
    if host is not None and "host" not in given:
        lines.append(f"Host: {host}")
    lines += [f"{name}: {value}" for name, value in fields]
    if body and given.isdisjoint({"content-length", "transfer-encoding"}):
        lines.append(f"Content-Length: {len(body)}")
    lines.append("Connection: close")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def exchange(port: int, raw: bytes, *, timeout: float = 60, shut: bool = False) -> bytes:
    """Send `raw` and return everything the server answers until it closes or says no more."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(raw)
        if shut:
            connection.shutdown(socket.SHUT_WR)
        return read_response(connection)


def read_all(port: int, raw: bytes, *, timeout: float = 60) -> bytes:
    """Send `raw` and return everything the server answers until it closes the connection."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(raw)
        while chunk := connection.recv(65536):
            received += chunk
    return received


def read_response(connection: socket.socket) -> bytes:
    """Read one response: its head, and as much content as Content-Length says, or up to the end."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65536)
        if not chunk:
            return received
        received += chunk
    head, _, content = received.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), None
    )
    while length is None or len(content) < length:
        chunk = connection.recv(65536)
        if not chunk:
            break
        content += chunk
    return head + b"\r\n\r\n" + content


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    fields: dict[str, str]
    content: bytes

    @property
    def json(self):
        return json.loads(self.content)


def ask(port: int, raw: bytes) -> Answer:
    """Send a request on a connection of its own, and return the answer."""
    return read_answer(exchange(port, raw), raw.partition(b" ")[0])


def read_answer(received: bytes, method: bytes = b"GET") -> Answer:
    """Return the answer to a request with a method."""
    reader, content = h11.Connection(h11.CLIENT), b""
    reader.send(h11.Request(method=method, target="/", headers=[("Host", HOST)]))
    reader.send(h11.EndOfMessage())
    reader.receive_data(received)
    reader.receive_data(b"")
    while not isinstance(event := reader.next_event(), h11.EndOfMessage):
        assert isinstance(event, (h11.InformationalResponse, h11.Response, h11.Data)), received
        if isinstance(event, h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            content += event.data
    fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
    return Answer(head.status_code, fields, content)


def handshake(port: int, path: str, fields=()) -> bytes:
    """Send a WebSocket handshake, and return everything that the server answers until it closes the connection."""
    upgrade = [
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Sec-WebSocket-Version", "13"),
    ]
    raw = raw_request("GET", path, [*upgrade, *fields]).replace(b"Connection: close", b"Connection: Upgrade")
    received = b""
    # An old uvicorn closes the connection only when nobody has answered its ping, after 40 seconds.
    with socket.create_connection(("127.0.0.1", port), timeout=90) as connection:
        connection.sendall(raw)
        # A client that is told to close answers, and an answer that is no switch of protocols may leave it open.
        while (chunk := connection.recv(65536)) and not _is_whole(received := received + chunk):
            pass
    return received


def _is_whole(received: bytes) -> bool:
    head, separator, content = received.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 101"):
        length = re.search(rb"(?i)content-length: (\d+)", head)
        return bool(separator) and length is not None and len(content) >= int(length[1])
    # A frame that closes has the opcode 8, and these applications send one short frame of text before it.
    text = content[2 : 2 + content[1]] if content[:1] == b"\x81" else b""
    return content[2 + len(text) if text else 0 :][:1] == b"\x88"


def assert_rejected(answer: Answer, code: str, status: int = 401) -> None:
    """The rejection has its code, in the body and, with 401, in the field, and nothing else."""
    challenge = f'Signature error="{code}"' if status == 401 else None
    assert (answer.status, answer.fields.get("www-authenticate")) == (status, challenge), answer.content
    assert answer.fields["content-type"] == "application/json"
    assert answer.content == b'{"error": "%s"}' % code.encode()


def assert_unsigned(answer: Answer, code: str = "request_signature_required") -> None:
    """A route has rejected the request with the 401 of its framework, which has the code in its fields."""
    assert (answer.status, answer.fields.get("www-authenticate")) == (401, f'Signature error="{code}"')
    assert "@target-uri" in answer.fields["accept-signature"]


SIGNED = "/a%2Fb?plan=1"
"""What is signed after the path of an endpoint: an escaped slash and a query."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One part of a signed POST that was changed after signing, and the code it is rejected with."""

    code: str
    method: str = "POST"
    target: str = SIGNED
    host: str = HOST
    body: bytes = BODY
    without: str = ""
    age: int = 0
    stranger: bool = False

    def raw(self, party: Party, path: str, extra=()) -> bytes:
        signer = party.stranger if self.stranger else party.signer
        fields = party.fields("POST", f"{path}{SIGNED}", BODY, age=self.age, signer=signer, extra=extra)
        kept = [(name, value) for name, value in fields if name != self.without]
        return raw_request(self.method, f"{path}{self.target}", kept, self.body, host=self.host)


INVALID = "request_signature_invalid"
CHANGES = {
    "path": Change(code=INVALID, target="/a%2Fc?plan=1"),
    "escaped slash": Change(code=INVALID, target="/a/b?plan=1"),
    "query": Change(code=INVALID, target="/a%2Fb?plan=2"),
    "query dropped": Change(code=INVALID, target="/a%2Fb"),
    "method": Change(code=INVALID, method="PUT"),
    "host of ours": Change(code=INVALID, host=OTHER_HOST),
    "host not ours": Change(code="request_target_uri_malformed", host="evil.example"),
    "body": Change(code="request_signature_digest_mismatch", body=BODY.replace(b"1", b"2")),
    "content type dropped": Change(code=INVALID, without="Content-Type"),
    "digest dropped": Change(code="request_signature_header_malformed", without="Content-Digest"),
    "signature dropped": Change(code="request_signature_header_malformed", without="Signature"),
    "expired": Change(code="request_signature_window_invalid", age=1000),
    "unknown key": Change(code="request_signature_key_unknown", stranger=True),
}

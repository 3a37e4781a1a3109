"""Requests and answers as they are on the wire, and the ways a request is changed after it was signed."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def exchange(port: int, raw: bytes, *, timeout: float = 10, shut: bool = False) -> bytes:
    """Send `raw` and return everything the server answers until it closes or says no more."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(raw)
        if shut:
            connection.shutdown(socket.SHUT_WR)
        return read_response(connection)


def read_all(port: int, raw: bytes, *, timeout: float = 10) -> bytes:
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


def read_accepted(response: bytes) -> dict:
    """Return the JSON of a response, whose status must be 200."""
    head, _, content = response.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), response
    return json.loads(content)


def check_rejected(response: bytes, code: str, status: int = 401) -> None:
    """Check that a response has the code of a rejection and, with 401, the challenge."""
    head, _, content = response.partition(b"\r\n\r\n")
    assert head.split(b" ")[1] == str(status).encode(), response
    assert json.loads(content) == {"error": code}
    challenges = [line for line in head.split(b"\r\n") if line.lower().startswith(b"www-authenticate:")]
    expected = [f'Signature error="{code}"'.encode()] if status == 401 else []
    assert [line.partition(b": ")[2] for line in challenges] == expected


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
    head, _, content = exchange(port, raw).partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if fields.get("transfer-encoding") == "chunked":
        content = b"".join(chunks(content))
    return Answer(int(status.split(" ")[1]), fields, content)


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


def chunks(content: bytes) -> Iterator[bytes]:
    """The chunks of chunked content."""
    while content:
        size, _, rest = content.partition(b"\r\n")
        yield rest[: int(size, 16)]
        content = rest[int(size, 16) + 2 :]


def assert_rejected(answer: Answer, code: str) -> None:
    """The rejection has its code, in the field and in the body, and nothing else."""
    assert (answer.status, answer.fields.get("www-authenticate")) == (401, f'Signature error="{code}"')
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

"""Desync: whatever is rejected, the next request on the same connection gets its own answer, or none."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass

import pytest
from tests.attack.connection import Connection, Desync
from tests.servers.conftest import running
from tests.servers.matrix import SERVERS
from tests.servers.requests_http1 import HOST, ORIGIN, signed

REQUIRED = "/adcp/create_media_buy"
ASKED = f"GET /__seen__ HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
SMUGGLED = f"POST {REQUIRED}?smuggled HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 0\r\n\r\n".encode()
REGISTERS = b'{"push_notification_config":{"url":"https://b.example","authentication":{"schemes":["Bearer"]}}}'

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "head", "Head", "QUERY")
VERSIONS = ("HTTP/1.1",) * 6 + ("HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/3.0", "HTTP/0.9", "HTTP/9.9")
TARGETS = (
    REQUIRED,
    REQUIRED,
    "/adcp/create_media_buy%0A",
    "/adcp/update_media_buy",
    "/p%FF",
    "/%2e%2e/x",
    "*",
    f"//{HOST}/x",
)
BODIES = (
    b"",
    b"{}",
    REGISTERS,
    SMUGGLED,
    b"0\r\n\r\n" + SMUGGLED,
    b'{"a":1,"a":2}',
    gzip.compress(b"{}"),
    b"x" * 70_000,
)
FRAMINGS = ("none", "length", "length", "length", "chunked", "chunked", "both", "zero", "declared 2 MiB")
FIELDS = (
    ("Connection", "keep-alive"), ("Connection", "close"), ("Expect", "100-continue"), ("Expect", "x"), ("Upgrade",
    "websocket"),
    ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQAoAAAAAIAAAAA"), ("Signature", "sig1=:AAAA:"),
    ("Signature-Input", "sig1=()"),
    ("Content-Type", "application/json"), ("Content-Encoding", "gzip"), ("TE", "trailers"), ("Range", "bytes=0-1"),
    ("If-None-Match", "*"), ("SCRIPT_NAME", "/x"), ("Script-Name", "/x"), ("Host", "evil.example"),
)  # fmt: skip


@dataclass(frozen=True)
class Attack:
    """A request that has to be rejected, and how it is sent."""

    method: str = "GET"
    target: str = REQUIRED
    version: str = "HTTP/1.1"
    body: bytes = b""
    framing: str = "none"
    fields: tuple[tuple[str, str], ...] = ()
    pipelined: bool = True

    def raw(self) -> bytes:
        lines = [("Host", HOST), *self.fields]
        content = self.body
        if self.framing in {"length", "both"}:
            lines.append(("Content-Length", str(len(self.body))))
        if self.framing == "zero":
            lines.append(("Content-Length", "0"))
            content = b""
        if self.framing == "declared 2 MiB":
            lines.append(("Content-Length", str(2**21)))
        if self.framing in {"chunked", "both"}:
            lines.append(("Transfer-Encoding", "chunked"))
            content = (f"{len(content):x}\r\n".encode() + content + b"\r\n" if content else b"") + b"0\r\n\r\n"
        if self.framing == "none":
            content = b""
        text = "".join(f"{name}: {value}\r\n" for name, value in lines)
        return f"{self.method} {self.target} {self.version}\r\n{text}\r\n".encode("latin-1") + content

    @property
    def is_whole(self) -> bool:
        """Whether every reader sees the end of the request where it ends."""
        return self.framing not in {"both", "declared 2 MiB"} and self.version == "HTTP/1.1" and self.method.isupper()


def first():
    for method in METHODS:
        for pipelined in (True, False):
            yield Attack(method, pipelined=pipelined)
            yield Attack(method, body=SMUGGLED, framing="length", pipelined=pipelined)
    for version in sorted(set(VERSIONS)):
        yield Attack(version=version, pipelined=False)
    yield Attack("POST", body=SMUGGLED, framing="chunked")
    yield Attack("HEAD", body=SMUGGLED, framing="chunked")
    yield Attack("POST", "/adcp/update_media_buy", body=REGISTERS, framing="length")
    yield Attack("POST", "/adcp/update_media_buy", body=b"x" * 2**21, framing="length", pipelined=False)
    yield Attack("HEAD", fields=tuple((f"x{at}", "v") for at in range(90)))
    yield Attack("POST", body=b"{}", framing="length", fields=(("Expect", "100-continue"),))


def made(random) -> Attack:
    fields = tuple(random.choice(FIELDS) for _ in range(random.choice((0, 0, 1, 2))))
    chosen = [random.choice(each) for each in (METHODS, TARGETS, VERSIONS, BODIES, FRAMINGS)]
    return Attack(*chosen, fields, random.random() < 0.6)


def exchanged(port: int, attack: Attack) -> str:
    """Return what went wrong on the connection, or nothing."""
    with Connection(port, 0.5 if not attack.is_whole else 3) as connection:
        raw = attack.raw()
        connection.send(raw + ASKED if attack.pipelined else raw)
        if attack.version not in {"HTTP/1.0", "HTTP/1.1"}:
            # A server may answer without a status line, as HTTP/0.9 has none. What matters is what it runs and logs.
            connection.rest(0.1)
            return ""
        try:
            rejected = connection.response(attack.method)
            if rejected is None or rejected.closes:
                # Whatever a server adds to its own answers, nobody reads it as another one.
                return ""
            if rejected.status < 400 and attack.target == REQUIRED:
                return f"answered {rejected.status}"
            if rejected.status >= 500 and b"request_signature" in rejected.content:
                return f"answered {rejected.status} {rejected.content!r}"
            if not attack.pipelined:
                connection.send(ASKED)
            following = connection.response("GET")
            if following is None:
                return ""
            if following.status != 200 or b'"calls"' not in following.content:
                # A server may reject what it reads as the rest of a request that it did not read.
                return "" if following.status == 400 and following.closes else f"the next answer is {following}"
            calls = json.loads(following.content)["calls"]
            if any(call["raw"].startswith(REQUIRED) for call in calls):
                return f"the application ran {calls}"
            if rest := connection.rest(0.02):
                return f"{rest[:60]!r} after the last response"
        except Desync as desync:
            return str(desync)
        except TimeoutError:
            return "the server says nothing" if attack.is_whole else ""
    return ""


def honest(port: int, version: str) -> int | None:
    """Return the status of an honest, signed request."""
    fields = [("Host", HOST), *signed("GET", f"{ORIGIN}/p")]
    text = "".join(f"{name}: {value}\r\n" for name, value in fields)
    with Connection(port) as connection:
        connection.send(f"GET /p {version}\r\n{text}\r\n".encode())
        response = connection.response("GET")
    return response and response.status


@pytest.mark.parametrize("server", [server for server in SERVERS if server.http1], ids=lambda server: server.name)
def test_a_rejected_request_leaves_the_connection_in_step(search, server):
    with running(server, PROBE_POLICY="create_media_buy") as served:
        assert honest(served.port, "HTTP/1.1") == 200
        if honest(served.port, "HTTP/1.0") != 200:
            search.find("an honest request over HTTP/1.0", served.logged()[-300:])
        for attack in search.of(first(), made):
            if server.name == "hypercorn" and not attack.method.isupper():
                # It takes `head` for HEAD, and h11 does not.
                continue
            search.reach()
            if wrong := exchanged(served.port, attack):
                search.find(wrong[:40], f"{attack} {wrong}")
            if any(call["raw"].startswith(REQUIRED) for call in served.calls()):
                search.find("the application ran", f"{attack}")
        loud = [
            line
            for line in served.logged().splitlines()
            if line.startswith(("ERROR:undersigned", "CRITICAL", "Traceback"))
        ]
        # Once it may say what the operator has to know.
        for line in {line for line in loud if loud.count(line) > 1}:
            search.find("a stranger makes the log loud", f"{loud.count(line)} times {line[:200]}")
    search.finish(reached=40)

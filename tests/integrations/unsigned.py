"""Unsigned requests of every kind, and what a server answers to each: bytes on a socket."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from dataclasses import dataclass
from email.utils import formatdate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Fields = Sequence[tuple[str, str]]

HOST: Final = "seller.example.com"
SECONDS: Final = 20
BIG: Final = 3_000_000

PATHS: Final = (
    "Z%C3%BCrich", "%E2%82%AC", "%F0%9F%98%80", "a%2Fb", "caf%c3%a9", "%7Euser", "a+b;c=d", "not%FFutf8", "a%20b",
    "a//b", "a/./b", "a/../b", "a%0Ab", "a%00b", "a%25b", "%", "[1]|{2}", "x" * 3000, "y/" * 500, "%41" * 400,
    "x?q=%C3%BC&r=%E2%82%AC", "x?", "x?a=1&a=2", "x?next=/a/../b", "x?%FF", f"x?{'q' * 4000}",
)  # fmt: skip
"""What follows an open route."""

SHOP: Final = ("Origin", "https://shop.example")
PREFLIGHT: Final = (SHOP, ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "signature"))
_FORM_TYPE: Final = ("Content-Type", "multipart/form-data; boundary=edge")
_URLENCODED: Final = ("Content-Type", "application/x-www-form-urlencoded")
_PNG: Final = ("Content-Type", "image/png")
_JSON: Final = ("Content-Type", "application/json")


@dataclass(frozen=True)
class Answer:
    """What a server answered, without its clock."""

    status: int
    fields: tuple[tuple[str, str], ...]
    content: bytes


@dataclass(frozen=True)
class Unsigned:
    """An unsigned request.

    Attributes:
        method: its method.
        target: its target.
        fields: its fields, without Host and framing.
        body: its content, or None.
        chunked: whether the content is sent in chunks.
        host: its Host.
    """

    method: str
    target: str
    fields: Fields = ()
    body: bytes | None = None
    chunked: bool = False
    host: str | None = HOST

    def __str__(self) -> str:
        size = "" if self.body is None else f" {len(self.body)} octets {self.body[:20]!r}"
        names = ",".join(name for name, _ in self.fields[:4])
        return f"{self.method} {self.target[:60]} {names}{size}{' chunked' if self.chunked else ''} to {self.host}"

    def head(self, *more: tuple[str, str]) -> bytes:
        """The request line and the fields."""
        fields = [*([("Host", self.host)] if self.host is not None else []), *self.fields, *more]
        if self.chunked:
            fields.append(("Transfer-Encoding", "chunked"))
        elif self.body is not None:
            fields.append(("Content-Length", str(len(self.body))))
        version = "1.0" if self.host is None else "1.1"
        lines = [f"{self.method} {self.target} HTTP/{version}", *(f"{name}: {value}" for name, value in fields)]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"

    def content(self) -> Iterator[bytes]:
        """The content as it is sent."""
        if not self.chunked:
            yield self.body or b""
            return
        body = self.body or b""
        for at in range(0, len(body), 50_000):
            part = body[at : at + 50_000]
            yield b"%x\r\n%b\r\n" % (len(part), part)
        yield b"0\r\n\r\n"


def _form(size: int) -> bytes:
    parts = (
        b'--edge\r\nContent-Disposition: form-data; name="name"\r\n\r\nZ\xc3\xbcrich\r\n',
        b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n'
        b"Content-Type: application/octet-stream\r\n\r\n" + bytes(range(256)) * (size // 256) + b"\r\n--edge--\r\n",
    )
    return b"".join(parts)


def requests(prefix: str = "") -> Iterator[Unsigned]:
    """Return the requests that are compared: one at a time, each on a connection of its own."""
    for path in PATHS:
        yield Unsigned("GET", f"{prefix}/open/{path}")
    for path in PATHS[:3]:
        yield Unsigned("POST", f"{prefix}/open/{path}", (_JSON,), b'{"a":1}')
        yield Unsigned("HEAD", f"{prefix}/open/{path}")
    for size in (1000, BIG):
        yield Unsigned("POST", f"{prefix}/form", (_FORM_TYPE,), _form(size))
    for body in _json_bodies():
        yield Unsigned("POST", f"{prefix}/read", (_JSON,), body)
    if prefix:
        return
    yield from _methods()
    yield from _uploads()
    yield from _files()
    yield from _spellings()


def _json_bodies() -> Iterable[bytes]:
    dense = "[" * 30 + ",".join(["{}"] * 100_000) + "]" * 30
    return (
        b"", b"{}", b'{"a":', b'{"a":1,"a":2}', b"[1,2,3]", b'"text"', b"\xef\xbb\xbf{}", b'{"a":"\xff"}', b"  {} ",
        json.dumps({"text": 'ü,[]{}:\\"' * 10_000}).encode(), dense.encode(), b"[" + b"0," * 500_000 + b"0]",
        b'{"note": "push_notification_config", "url": "https://a.example"}', b"[" * 5000, b"NaN",
    )  # fmt: skip


def _methods() -> Iterator[Unsigned]:
    targets = ("/open/x", "/nothing", "/slash", "/slash/", "/slash?x=1", "/files/data.txt", "/stream", "/", "//")
    for target in targets:
        for method in ("GET", "HEAD", "OPTIONS", "POST", "DELETE", "PUT"):
            yield Unsigned(method, target, (), b"a=1" if method in {"POST", "PUT"} else None)
    for target in ("/open/x", "/upload", "/nothing", "/files/data.txt", "/slash"):
        yield Unsigned("OPTIONS", target, PREFLIGHT)
        yield Unsigned("GET", target, (SHOP,))
    yield Unsigned("OPTIONS", "*")
    yield Unsigned("PROPFIND", "/open/x")
    yield Unsigned("PATCH", "/open/x", (_JSON,), b"{}")
    yield Unsigned("GET", "/read", (_JSON,), b"{}")
    yield Unsigned("GET", "/open/x", (("Content-Length", "0"),))


def _uploads() -> Iterator[Unsigned]:
    for size in (0, 1, 65_536, 1_048_577, BIG):
        for target in ("/upload", "/read"):
            for chunked in (False, True):
                yield Unsigned("POST", target, (_PNG,), b"\x89PNG"[:size] * (size // 4), chunked)
    yield Unsigned("POST", "/read", (_JSON,), b'{"a":' + b" " * 200_000 + b"1}", chunked=True)
    yield Unsigned("POST", "/read", (_URLENCODED,), b"a=1&b=%C3%BC")
    yield Unsigned("POST", "/form", (_URLENCODED,), b"name=x")
    yield Unsigned("POST", "/form", (_FORM_TYPE,), _form(300_000), chunked=True)
    yield Unsigned("POST", "/upload", (), b"no type at all")
    yield Unsigned("POST", "/upload")
    yield Unsigned("POST", "/nothing", (_PNG,), b"x" * 300_000)
    yield Unsigned("POST", "/read", (_JSON, ("Content-Encoding", "identity")), b"{}")
    yield Unsigned("POST", "/read", (("Content-Type", "application/gzip"), ("Content-Encoding", "gzip")), b"\x1f\x8b")


def _files() -> Iterator[Unsigned]:
    later, earlier = formatdate(2_000_000_000, usegmt=True), formatdate(1, usegmt=True)
    for fields in (
        [("Range", "bytes=0-9")], [("Range", "bytes=-10")], [("Range", "bytes=5-5,10-12")],
        [("Range", "bytes=9999999-")],
        [("If-Modified-Since", later)], [("If-Modified-Since", earlier)], [("If-None-Match", "*")],
        [("If-None-Match", '"other"')], [("If-Unmodified-Since", earlier)], [("If-Match", '"other"')],
        [("Range", "bytes=0-9"), ("If-Range", earlier)],
    ):  # fmt: skip
        yield Unsigned("GET", "/files/data.txt", fields)
        yield Unsigned("HEAD", "/files/data.txt", fields)
    yield Unsigned("GET", "/files/nothing.txt")
    yield Unsigned("GET", "/files/..%2Fevery_framework.py")
    yield Unsigned("GET", "/files/")


def _spellings() -> Iterator[Unsigned]:
    cookies = "; ".join(f"c{at}={'v' * 60}" for at in range(100))
    edge = [(f"x-edge-{at}", "v" * 40) for at in range(80)]
    for fields in (
        [("Cookie", cookies)], edge, [("X-Name", "Z\xfcrich")], [("X-Twice", "1"), ("X-Twice", "2")], [("X-Empty", "")],
        [("Accept", "text/html")], [("Authorization", "Basic eDp5")], [("Content-Type", "application/json")],
        [("Accept-Signature", "sig1=()")], [("Content-Digest", "sha-256=:AAAA:")], [("X_Under", "1")],
        [("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Proto", "https")], [("Upgrade", "h2c")],
        [("User-Agent", "kube-probe/1.30")], [("Referer", "https://shop.example/a b")],
    ):  # fmt: skip
        yield Unsigned("GET", "/open/x?y=1", fields)
    for host in ("10.0.3.7:8000", "localhost", "testserver", "SELLER.example.com", "seller.example.com:443", None):
        for target in ("/open/x", "/slash", "/nothing"):
            yield Unsigned("GET", target, host=host)


def ask(port: int, request: Unsigned, *, at_once: bool = False) -> Answer | str:
    """Send a request on a connection of its own, and return its answer, or how the connection ended.

    A server that answers before it has read the content may reset the connection, and the answer is lost. Then it is
    asked again. Small content that is sent at once with the head has always been read.
    """
    answer: Answer | str = ""
    for _ in range(3):
        answer = _asked(port, request, at_once=at_once)
        if answer != "no answer: ConnectionResetError":
            break
    return answer


def _asked(port: int, request: Unsigned, *, at_once: bool) -> Answer | str:
    parts = [request.head(("Connection", "close")), *request.content()]
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        with contextlib.suppress(ConnectionError):
            # A server may answer, and close, before it has read everything.
            for part in [b"".join(parts)] if at_once else parts:
                connection.sendall(part)
        return _read(connection, request.method, port)


def _read(connection: socket.socket, method: str, port: int) -> Answer | str:
    response = http.client.HTTPResponse(connection, method=method)
    # Without a Host, an application shows the port of the server.
    shown = f"127.0.0.1:{port}"
    try:
        response.begin()
        content = response.read()
    except (http.client.HTTPException, ConnectionError, TimeoutError) as ended:
        return f"no answer: {type(ended).__name__}"
    left_out = {"date", "expires", "connection", "keep-alive", "transfer-encoding"}
    fields = sorted((name.lower(), value) for name, value in response.getheaders() if name.lower() not in left_out)
    told = tuple((name, _in_order(value) if name == "allow" else value.replace(shown, "")) for name, value in fields)
    answer = Answer(response.status, told, content.replace(shown.encode(), b""))
    # Several ranges are separated by a random boundary.
    boundary = response.msg.get_param("boundary")
    return _without(answer, boundary) if isinstance(boundary, str) else answer


def _without(answer: Answer, boundary: str) -> Answer:
    fields = tuple((name, value.replace(boundary, "")) for name, value in answer.fields)
    return Answer(answer.status, fields, answer.content.replace(boundary.encode(), b""))


def _in_order(methods: str) -> str:
    """Return Allow in one order: some frameworks keep a set."""
    return ", ".join(sorted(methods.split(", ")))


LEAVING: Final = Unsigned("POST", "/upload", (_PNG,), b"x" * 200_000)
"""An upload for a client that leaves before its end."""


def ask_in_series(port: int) -> list[Answer | str]:
    """Send several requests one after another, on one connection as long as the server keeps it."""
    series = [
        Unsigned("GET", "/open/first"),
        Unsigned("POST", "/read", (_JSON,), b'{"a":1}'),
        Unsigned("POST", "/open/unread", (_PNG,), b"x" * 1000),
        Unsigned("POST", "/upload", (), b"y" * 100_000, chunked=True),
        Unsigned("POST", "/read", (("Content-Type", "text/plain"),), b"plain", chunked=True),
        Unsigned("HEAD", "/open/x"),
        Unsigned("POST", "/nothing", (), b"z" * 70_000),
        Unsigned("OPTIONS", "/open/x", PREFLIGHT),
        Unsigned("GET", "/stream"),
        Unsigned("GET", "/files/data.txt", [("If-Modified-Since", formatdate(2_000_000_000, usegmt=True))]),
        Unsigned("GET", "/open/last"),
    ]
    answers: list[Answer | str] = []
    connections = 0
    connection: socket.socket | None = None
    for request in series:
        for _ in range(2):
            if connection is None:
                connection = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
                connections += 1
            with contextlib.suppress(ConnectionError):
                connection.sendall(request.head() + b"".join(request.content()))
            got = _read(connection, request.method, port)
            if not isinstance(got, str):
                break
            connection.close()
            connection = None
        answers.append(got)
    if connection is not None:
        connection.close()
    # A server that closes a connection with content that nobody read may do so at different times.
    return [*answers, "one connection" if connections == 1 else "several connections"]


def ask_whether_to_continue(port: int, request: Unsigned) -> tuple[bool, Answer | str]:
    """Send a head that expects 100, and the content when it comes. Return whether it came, and the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(request.head(("Expect", "100-continue")))
        begun = b""
        connection.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            # The response stays to be read.
            begun = connection.recv(100, socket.MSG_PEEK)
        connection.settimeout(SECONDS)
        goes_on = begun.startswith(b"HTTP/1.1 100 ")
        if not begun or goes_on:
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"".join(request.content()))
        return goes_on, _read(connection, request.method, port)


def leave_early(port: int, request: Unsigned) -> None:
    """Send half of the content, and close the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(request.head())
        body = request.body or b""
        connection.sendall(body[: len(body) // 2])
        time.sleep(0.05)


def uploads_ended(port: int, *, at_least: int = 0) -> list[str]:
    """Return how the uploads of an application ended, as soon as it tells of so many."""
    told: list[str] = []
    for _ in range(100):
        answer = ask(port, Unsigned("GET", "/left"))
        assert isinstance(answer, Answer)
        given = json.loads(answer.content)
        told = given if isinstance(given, list) else given["ended"]
        if len(told) >= at_least:
            break
        time.sleep(0.05)
    return told

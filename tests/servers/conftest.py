"""Every server of the matrix, each started once and stopped by its own process."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.certificate import certificate
from tests.servers import apache
from tests.servers.matrix import REJECTED, ROOT, SERVERS, UNCHECKED_HTTP2, Server
from tests.wire import exchange
from tests.workers import free_port, started

if TYPE_CHECKING:
    from collections.abc import Iterator

# An application of Sanic takes signals away from all others of its process unless it is told not to, as docs say.
os.environ["SANIC_TOUCHUP"] = "false"

ASKED = b"GET /__seen__ HTTP/1.1\r\nHost: seller.example.com\r\nConnection: close\r\n\r\n"
ASKED_BY_HTTP2 = [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/__seen__")]


@dataclass(frozen=True)
class Running:
    """A running server, with a side channel to its application."""

    server: Server
    port: int
    log: Path

    def seen(self, seconds: float = 30) -> dict:
        """Return the name of the recognised server, and the calls of the application since the last time."""
        if not self.server.http1:
            from tests.servers import http2  # noqa: PLC0415 - h2 may be missing

            answer = http2.exchange(self.port, ASKED_BY_HTTP2, timeout=seconds, tls=self.server.tls)
            assert answer.status == 200, answer
            return json.loads(answer.content)
        head, _, content = exchange(self.port, ASKED, timeout=seconds).partition(b"\r\n\r\n")
        assert b" 200 " in head, head
        return json.loads(content)

    def answers(self) -> bool:
        with contextlib.suppress(OSError, AssertionError):
            return bool(self.seen(5))
        return False

    def logged(self) -> str:
        return "".join(file.read_text() for file in (self.log, self.log.with_name("error.log")) if file.exists())

    def calls(self) -> list[dict]:
        return self.seen()["calls"]


@contextlib.contextmanager
def running(server: Server, **variables: str) -> Iterator[Running]:
    """Start `server` on a free port, with environment `variables`; stop it by its own process."""
    missing = server.missing()
    if missing:
        pytest.skip(missing)
    port = free_port()
    directory = Path(tempfile.mkdtemp(prefix="undersigned-server-"))
    if server.tls:
        certificate(directory / "certificate.pem", "127.0.0.1")
    if server.name == "mod_wsgi":
        apache.prepare(directory, port)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    environment |= {
        "PYTHONPATH": ":".join((str(ROOT), *sys.path)),
        "PROBE_HTTP2_SERVER": server.http2,
        "PROBE_READS_LESS": "yes" * server.waits,
    }
    environment |= variables
    log = directory / "log"
    one = Running(server, port, log)
    try:
        with started(server.argv(port, directory), lambda _: one.answers(), log=log, cwd=ROOT, env=environment):
            yield one
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _fixture(servers: list[Server]):
    """Return a fixture that has each of some servers, started once."""

    @pytest.fixture(scope="session", params=servers, ids=lambda server: server.name)
    def started_once(request) -> Iterator[Running]:
        with running(request.param) as one:
            yield one

    return started_once


served = _fixture([server for server in SERVERS if server.http1])
served_http2 = _fixture([server for server in SERVERS if server.http2])
rejected = _fixture(REJECTED)


@pytest.fixture(scope="session")
def unchecked_http2() -> Iterator[Running]:
    with running(UNCHECKED_HTTP2) as one:
        yield one

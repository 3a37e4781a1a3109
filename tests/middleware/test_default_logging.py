"""What a server writes to standard error if nobody has configured logging: the rejections."""

from __future__ import annotations

import contextlib
import http.client
import sys
from typing import TYPE_CHECKING

import pytest
from tests.workers import answers, free_port, started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ORIGIN = "https://seller.example.com"
PROGRAM = f"""
from undersigned import KeyPair, KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_fastapi import SignatureMiddleware
from undersigned_flask import Undersigned
from fastapi import FastAPI
from flask import Flask

keys = KeySet.from_jwks(KeyPair.generate("ed25519").public)
verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())


def make_fastapi():
    app = FastAPI()
    app.add_middleware(SignatureMiddleware, verifier=verifier, origins=["{ORIGIN}"])
    return app


def make_flask():
    app = Flask(__name__)
    Undersigned(app, verifier=verifier, origins=["{ORIGIN}"])
    return app
"""
SERVERS = {
    "uvicorn": ("uvicorn", "--factory", "main:make_fastapi", "--host", "127.0.0.1", "--port"),
    "flask": ("flask", "--app", "main:make_flask", "run", "--host", "127.0.0.1", "--port"),
}
SIGNED = {"Signature-Input": 'sig1=("@method")', "Signature": "sig1=:AAAA:"}


@contextlib.contextmanager
def serve(server: str, directory: Path) -> Iterator[tuple[int, Path]]:
    """Run a server as its users start it; yields its port, and the file with its standard error."""
    (directory / "main.py").write_text(PROGRAM)
    port, log = free_port(), directory / "stderr"
    command = [sys.executable, "-m", *SERVERS[server], str(port)]
    with started(command, lambda _: answers(port), log=log, cwd=directory):
        yield port, log


def status(port: int, fields: dict[str, str] | None = None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/p", headers=fields or {})
        return connection.getresponse().status


@pytest.mark.parametrize("server", SERVERS)
def test_server_shows_why_a_request_is_rejected(server, tmp_path):
    with serve(server, tmp_path) as (port, log):
        assert [status(port, SIGNED) for _ in range(9)] == [401] * 9
    lines = [line for line in log.read_text().splitlines() if "undersigned" in line or "rejected" in line]
    begun = "request rejected: request_target_uri_malformed (target, authority and signature): own origin: "
    foreign = [line for line in lines if line.startswith(begun)]
    assert len(foreign) == 9
    for line in foreign:
        assert f"the authority is not one of the configured origins (configured: {ORIGIN})" in line
        assert "(GET /p; client: 127.0.0.1; status: 401; " in line
        assert f"received: Host 127.0.0.1:{port}, request target /p). Fix: if the Host is yours, add it to" in line

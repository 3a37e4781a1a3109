"""The example services of several workers, each started as its file says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.keys import BODY, Party
from tests.wire import ask
from tests.workers import free_port, statuses, workers

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def party(tmp_path) -> Party:
    made = Party.make()
    (tmp_path / "jwks.json").write_text(json.dumps(made.jwks))
    return made


def running(module: str, folder: Path, port: int, replay: str):
    """A service of two workers."""
    arguments = ["--app-dir", str(EXAMPLES), "--factory", f"{module}:app", "--workers", "2", "--port", str(port)]
    environment = {"JWKS": str(folder / "jwks.json"), "REPLAY": replay, "ORIGIN": "https://seller.example.com"}
    return workers("uvicorn", *arguments, port=port, log=folder / "log", count=3, **environment)


def test_two_workers_on_sqlite_accept_each_request_once(party, tmp_path):
    port = free_port()
    with running("fastapi_sqlite_app", tmp_path, port, str(tmp_path / "replay.sqlite")):
        answers = [ask(port, party.raw("POST", "/plans/gold", BODY)) for _ in range(20)]
        assert {(answer.status, answer.json["caller"]) for answer in answers} == {(200, "acme")}
        assert statuses(port, party.raw("POST", "/plans/gold", BODY), 30) == {200: 1, 401: 29}


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="apt-get install redis-server")
def test_two_workers_on_redis_accept_each_request_once_and_answer_503_without_it(party, tmp_path):
    from tests.stores.servers import Redis  # noqa: PLC0415 - only these tests have the servers

    port = free_port()
    with Redis() as server, running("fastapi_redis_app", tmp_path, port, f"redis://127.0.0.1:{server.port}"):
        raw = party.raw("POST", "/plans/gold", BODY)
        assert statuses(port, raw, 30) == {200: 1, 401: 29}
        for breaks, repairs in ((server.kill, server.start), (server.pause, server.resume)):
            breaks()
            late = party.raw("POST", "/plans/gold", BODY)
            assert statuses(port, late, 8) == {503: 8}
            assert statuses(port, raw, 8) == {503: 8}
            repairs()
            assert statuses(port, raw, 30)[200] == 0
            assert statuses(port, party.raw("POST", "/plans/gold", BODY), 30)[200] == 1

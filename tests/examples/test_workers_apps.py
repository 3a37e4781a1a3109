"""The example services of several workers, each started as its file says."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.examples.programs import start_service
from tests.keys import BODY, Party
from tests.wire import ask
from tests.workers import statuses

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def party(tmp_path) -> Party:
    made = Party.make()
    (tmp_path / "jwks.json").write_text(json.dumps(made.jwks))
    return made


def running(module: str, folder: Path, replay: str):
    """A service of two workers; yields its port."""
    environment = {"JWKS": str(folder / "jwks.json"), "REPLAY": replay, "ORIGIN": "https://seller.example.com"}
    return start_service(module, folder, "--workers", "2", count=3, fails=True, **environment)


def test_two_workers_on_sqlite_accept_each_request_once(party, tmp_path):
    with running("fastapi_sqlite_app", tmp_path, str(tmp_path / "replay.sqlite")) as port:
        answers = [ask(port, party.raw("POST", "/plans/gold", BODY)) for _ in range(20)]
        assert {(answer.status, answer.json["caller"]) for answer in answers} == {(200, "acme")}
        assert statuses(port, party.raw("POST", "/plans/gold", BODY), 30) == {200: 1, 401: 29}


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="apt-get install redis-server")
def test_two_workers_on_redis_accept_each_request_once_and_answer_503_without_it(party, tmp_path):
    from tests.stores.servers import Redis  # noqa: PLC0415 - only these tests have the servers

    with Redis() as server, running("fastapi_redis_app", tmp_path, f"redis://127.0.0.1:{server.port}") as port:
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

from __future__ import annotations

import pytest
from tests.workers import free_port, statuses, workers

SAID = "MemoryReplayStore is used in more than one process"
APP = """
import secrets
from undersigned import Caps, MemoryReplayStore

store = MemoryReplayStore()

def claim():
    for _ in range(3):
        assert store.claim("k", secrets.token_hex(8), now=0, until=360, caps=Caps(10**6)) == "fresh"

async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    claim()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})

def wsgi(environ, start):
    claim()
    start("200 OK", [("Content-Length", "0")])
    return []
"""
GET = b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"
SERVERS = {
    "gunicorn": ("gunicorn", "--chdir", "{folder}", "--bind", "127.0.0.1:{port}", "--workers", "{count}", "app:wsgi"),
    "gunicorn, preloaded": (
        *("gunicorn", "--preload", "--chdir", "{folder}", "--bind", "127.0.0.1:{port}"),
        *("--workers", "{count}", "app:wsgi"),
    ),
    "uvicorn": ("uvicorn", "--app-dir", "{folder}", "--port", "{port}", "--workers", "{count}", "app:asgi"),
    "hypercorn": ("hypercorn", "--bind", "127.0.0.1:{port}", "--workers", "{count}", "{folder}/app:asgi"),
    "granian": (
        *("granian", "--interface", "asgi", "--working-dir", "{folder}", "--port", "{port}"),
        *("--workers", "{count}", "app:asgi"),
    ),
}


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("server", SERVERS)
def test_each_of_several_workers_warns_once_that_they_share_no_memory(server, count, tmp_path):
    (tmp_path / "app.py").write_text(APP)
    port, log = free_port(), tmp_path / "log"
    module, *arguments = (word.format(folder=tmp_path, port=port, count=count) for word in SERVERS[server])
    with workers(module, *arguments, port=port, log=log, count=count if (server, count) != ("uvicorn", 1) else 0):
        for _ in range(5):
            assert statuses(port, GET, 20) == {200: 20}
        said = [line for line in log.read_text().splitlines() if SAID in line]
        if count == 1:
            assert said == []
        else:
            assert 1 <= len(said) <= count
            assert "(2 workers of one server)" in said[0]
            assert "use SqliteReplayStore, RedisReplayStore or PostgresReplayStore" in said[0]

"""Throughput of real servers with and without the middleware, under a bounded load of pre-signed requests.

Each server is one process with one worker; the load is a fixed number of keep-alive connections in this one. With
`UNDERSIGNED_CPROFILE=FILE` in the environment the servers under the middleware write where their time goes.
"""

from __future__ import annotations

import contextlib
import cProfile
import multiprocessing
import os
import signal
import socket
import statistics
import threading
import time
from typing import TYPE_CHECKING

import uvicorn
from tests.benchmarks.bench_middleware import ORIGINS, application
from tests.benchmarks.row import Row
from tests.benchmarks.traffic import BODY, signed_fields
from tests.keys import verifier
from tests.serving import gunicorn_server, read_response

from undersigned import asgi, wsgi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.traffic import Fields

_CONNECTIONS = 4


def rows(*, quick: bool) -> list[Row]:
    """Measure both servers; a ratio is the middleware's throughput to the bare application's."""
    count, rounds = (20, 1) if quick else (3000, 3)
    found = []
    for name, server, bare, wrapped in (
        ("uvicorn", _uvicorn, application, _asgi_judged),
        ("gunicorn, gthread", _gunicorn, _bare_wsgi, _wsgi_judged),
    ):
        pairs = []
        for _ in range(rounds):
            requests = [_raw(fields) for fields in signed_fields(count)]
            pairs.append([_throughput(server, app, requests) for app in (bare, wrapped())])
        share = statistics.median(with_it / without for without, with_it in pairs)
        added = statistics.median(1e6 / with_it - 1e6 / without for without, with_it in pairs)
        found.append(Row(f"{name}: throughput with the middleware", "without", share))
        found.append(Row(f"{name}: additional time per request", "", added, None, "us"))
    return found


def _asgi_judged():
    return asgi.SignatureMiddleware(application, verifier=verifier(), origins=ORIGINS)


def _bare_wsgi(environ, start_response) -> list[bytes]:
    environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    start_response("200 OK", [("Content-Length", "0")])
    return [b""]


def _wsgi_judged():
    return wsgi.SignatureMiddleware(_bare_wsgi, verifier=verifier(), origins=ORIGINS)


def _raw(fields: Fields) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"POST /adcp/create_media_buy HTTP/1.1\r\n{head}\r\n".encode() + BODY


@contextlib.contextmanager
def _uvicorn(app) -> Iterator[int]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(64)
        child = multiprocessing.get_context("fork").Process(target=_serve_asgi, args=(app, bound))
        child.start()
        try:
            yield bound.getsockname()[1]
        finally:
            child.terminate()
            child.join(10)


def _serve_asgi(app, bound: socket.socket) -> None:
    config = uvicorn.Config(app, lifespan="off", log_level="critical", access_log=False, http="httptools")
    profiled = os.environ.get("UNDERSIGNED_CPROFILE") if isinstance(app, asgi.SignatureMiddleware) else None
    server = uvicorn.Server(config)
    # Uvicorn raises the signal that stopped it again, after which nothing would be written.
    server.capture_signals = contextlib.nullcontext
    signal.signal(signal.SIGTERM, lambda *_: setattr(server, "should_exit", True))
    with cProfile.Profile() if profiled else contextlib.nullcontext() as profile:
        server.run(sockets=[bound])
    if profile is not None:
        profile.dump_stats(profiled)


@contextlib.contextmanager
def _gunicorn(app) -> Iterator[int]:
    with gunicorn_server(app, worker_class="gthread", threads=2, keepalive=5) as port:
        yield port


def _throughput(server, app, requests: list[bytes]) -> float:
    """Return the requests answered in a second."""
    with server(app) as port:
        shares = [requests[at::_CONNECTIONS] for at in range(_CONNECTIONS)]
        opened = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in shares]
        failures: list[bytes] = []
        for connection, share in zip(opened, shares, strict=True):
            # The server starts and imports before its first answer.
            _load(connection, [share.pop()], failures)
        loads = [
            threading.Thread(target=_load, args=(connection, share, failures))
            for connection, share in zip(opened, shares, strict=True)
        ]
        begun = time.perf_counter()
        for load in loads:
            load.start()
        for load in loads:
            load.join()
        taken = time.perf_counter() - begun
        for connection in opened:
            connection.close()
        assert not failures, failures[0]
    return sum(map(len, shares)) / taken


def _load(connection: socket.socket, requests: list[bytes], failures: list[bytes]) -> None:
    for request in requests:
        connection.sendall(request)
        answer = read_response(connection)
        if b" 200 " not in answer[:16]:
            failures.append(answer or b"the server closed")
            return

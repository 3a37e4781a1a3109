"""The cost of a covered body of 10 MiB relative to its SHA-256, and its peak memory."""

from __future__ import annotations

import asyncio
import hashlib
import tracemalloc
from typing import TYPE_CHECKING

from tests.benchmarks.bench_middleware import ORIGINS, application, message_of
from tests.benchmarks.row import Row, Side, interleave, interleave_async
from tests.drive import environ_of, scope_of
from tests.keys import URL, signer, verifier
from tests.work import most_memory

from undersigned import Request, asgi, wsgi

if TYPE_CHECKING:
    from collections.abc import Awaitable

_MIB = 1024 * 1024
_CHUNK = 64 * 1024


def rows(*, quick: bool) -> list[Row]:
    """Measure time and peak memory through both middlewares."""
    body = bytes(_MIB if quick else 10 * _MIB)
    rounds = 3 if quick else 60
    fields = _sign(body, rounds + 2)
    return [*asyncio.run(_asgi(body, fields, rounds)), *_wsgi(body, fields, rounds)]


def _rows(kind: str, ratio: float, peak: float) -> list[Row]:
    name = f"{kind}, a covered body of 10 MiB, minus the bare app"
    return [
        Row(name, "sha-256 of the same chunks", ratio, 1.15), Row(f"{kind}, peak memory of it", "one body", peak, 1.15)
    ]  # fmt: skip


def _sign(body: bytes, count: int) -> list[list[tuple[str, str]]]:
    bare = [
        ("Host", "seller.example.com"),
        ("Content-Type", "application/octet-stream"),
        ("Content-Length", str(len(body))),
    ]
    signs, request = signer(), Request("POST", URL, bare, body)
    return [[*bare, *signs.sign(request)] for _ in range(count)]


def _chunks(body: bytes) -> list[bytes]:
    return [body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK)]


def _hash(chunks: list[bytes]) -> bytes:
    running = hashlib.sha256()
    for chunk in chunks:
        running.update(chunk)
    return running.digest()


async def _asgi(body: bytes, fields: list[list[tuple[str, str]]], rounds: int) -> list[Row]:
    chunks = _chunks(body)
    middle = asgi.SignatureMiddleware(application, verifier=verifier(), origins=ORIGINS, max_body=len(body))
    statuses: list[object] = []

    async def send(message: dict[str, object]) -> None:
        statuses.append(message.get("status"))

    async def hashed() -> None:
        _hash(chunks)

    def through(app, turn: int) -> Awaitable[object]:
        coming = iter(range(len(chunks)))

        async def receive() -> dict[str, object]:
            at = next(coming)
            # When memory is measured, a copy of each chunk is what a server has just read.
            chunk = chunks[at] if turn < rounds else bytes(bytearray(chunks[at]))
            return {"type": "http.request", "body": chunk, "more_body": at < len(chunks) - 1}

        return app(scope_of(message_of(fields[turn], b"")), receive, send)

    floor, bare, passed = await interleave_async(
        rounds, lambda _: hashed(), lambda turn: through(application, turn), lambda turn: through(middle, turn)
    )
    statuses.clear()
    tracemalloc.start()
    await through(middle, rounds)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 200 in statuses
    return _rows("ASGI", (passed - bare) / floor, peak / len(body))


def _wsgi(body: bytes, fields: list[list[tuple[str, str]]], rounds: int) -> list[Row]:
    chunks, statuses = _chunks(body), []

    def application(environ, start) -> list[bytes]:
        while environ["wsgi.input"].read(_CHUNK):
            pass
        start("200 OK", [])
        return []

    middle = wsgi.SignatureMiddleware(application, verifier=verifier(), origins=ORIGINS, max_body=len(body))

    def environ(turn: int) -> dict[str, object]:
        return environ_of(message_of(fields[turn], body), "gunicorn")

    def start_response(status: str, _fields: object) -> None:
        statuses.append(status)

    floor, bare, passed = interleave(
        rounds,
        Side(lambda _: _hash(chunks)),
        Side(lambda given: application(given, start_response), environ),
        Side(lambda given: middle(given, start_response), environ),
    )
    given = environ(rounds)
    peak = most_memory(lambda: middle(given, start_response))
    assert set(statuses) == {"200 OK"}
    return _rows("WSGI", (passed - bare) / floor, peak / len(body))

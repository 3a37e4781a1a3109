"""Concurrent requests over ASGI, verified on the event loop or in a thread: throughput, latency, processor time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from tests.benchmarks.bench_middleware import ORIGINS, application, scope_of
from tests.benchmarks.row import Row
from tests.benchmarks.traffic import BODY, signed_fields
from tests.keys import verifier

from undersigned import MemoryReplayStore, asgi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.benchmarks.traffic import Fields

    from undersigned.asgi import ASGIApp

_CONCURRENT = (1, 8, 64)
_TURNS = 10
_LOOP, _THREAD = "on the event loop", "in a thread"


class BlockingStore(MemoryReplayStore):
    """A store that is taken to block, so that the middleware verifies in a thread."""

    blocking = True


def rows(*, quick: bool) -> list[Row]:
    """Measure both ways for 1, 8 and 64 concurrent requests."""
    return [row for concurrent in _CONCURRENT for row in _rows(concurrent, requests=64 if quick else 3840)]


def _rows(concurrent: int, *, requests: int) -> list[Row]:
    """Measure both ways in turn, each with the given number of requests."""
    apps = {
        _LOOP: asgi.SignatureMiddleware(application, verifier=verifier(), origins=ORIGINS),
        _THREAD: asgi.SignatureMiddleware(application, verifier=verifier(replay=BlockingStore()), origins=ORIGINS),
    }
    taken: dict[str, list[float]] = {way: [] for way in apps}
    seconds, processor = dict.fromkeys(apps, 0.0), dict.fromkeys(apps, 0.0)
    share = max(requests // _TURNS, concurrent)

    async def measure() -> None:
        for _ in range(max(requests // share, 1)):
            for way, app in apps.items():
                fields = signed_fields(share)
                begun, used = time.perf_counter(), time.process_time()
                taken[way] += await _serve(app, fields, concurrent)
                seconds[way] += time.perf_counter() - begun
                processor[way] += time.process_time() - used

    asyncio.run(measure())
    throughput = {way: len(times) / seconds[way] for way, times in taken.items()}
    slowest = {way: sorted(times)[len(times) * 99 // 100] for way, times in taken.items()}
    name = f"ASGI, {concurrent} at once"
    figures = [
        row
        for way in apps
        for row in (
            Row(f"{name}, verified {way}: throughput", "", throughput[way], unit="requests/s"),
            Row(f"{name}, verified {way}: p99 latency", "", slowest[way] * 1e6, unit="us"),
        )
    ]
    return [
        *figures,
        Row(f"{name}, throughput, {_THREAD}", _LOOP, throughput[_THREAD] / throughput[_LOOP]),
        Row(f"{name}, p99 latency, {_THREAD}", _LOOP, slowest[_THREAD] / slowest[_LOOP]),
        Row(f"{name}, processor time, {_THREAD}", _LOOP, processor[_THREAD] / processor[_LOOP]),
    ]


async def _serve(app: ASGIApp, requests: Sequence[Fields], concurrent: int) -> list[float]:
    """Return how long each request took. As many clients as are concurrent send one request after the other."""
    waiting, times = iter(requests), []

    async def client() -> None:
        for fields in waiting:
            begun = time.perf_counter()
            # A server gets each request in a turn of the event loop.
            await asyncio.sleep(0)
            await _answer(app, fields)
            times.append(time.perf_counter() - begun)

    await asyncio.gather(*(client() for _ in range(concurrent)))
    return times


async def _answer(app: ASGIApp, fields: Fields) -> None:
    messages = iter([{"type": "http.request", "body": BODY, "more_body": False}])
    statuses: list[int] = []

    async def receive() -> dict[str, object]:
        return next(messages)

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope_of(fields), receive, send)
    assert statuses == [200]

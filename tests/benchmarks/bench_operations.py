"""What a deployment adds to a verification: telemetry, remote keys with a revocation list, and Redis.

The processor time of the process for batches of requests over ASGI, 32 at once. The sides take turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import _AsyncRESP2Parser
from redis.utils import HIREDIS_AVAILABLE
from tests.benchmarks.bench_middleware import message_of
from tests.benchmarks.row import Row
from tests.benchmarks.traffic import BODY, signed_fields
from tests.certificate import certificate
from tests.discovery.key_server import HOSTS, KeyServer, response
from tests.discovery.test_revocation_sources import ISSUER, PINNED, sign
from tests.drive import scope_of
from tests.keys import JWKS, KEYS, NOW
from tests.stores.servers import Redis as Server

from undersigned import AsyncVerifier, MemoryReplayStore, profiles
from undersigned.asgi import ASGIApp, SignatureMiddleware
from undersigned.discovery import KeySources, RemoteJWKS, RemoteRevocationList
from undersigned_opentelemetry import Telemetry
from undersigned_redis import AsyncRedisReplayStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FLOOR = "verification in memory"
_AT_ONCE = 32


class _Side(NamedTuple):
    name: str
    app: ASGIApp


def rows(*, quick: bool) -> list[Row]:
    """Measure each addition alone, and all of them."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder), 2 if quick else 40))


async def _measure(folder: Path, rounds: int) -> list[Row]:
    async with contextlib.AsyncExitStack() as opened:
        return await _compare(list(_sides(folder, opened)), rounds)


async def _compare(sides: list[_Side], rounds: int) -> list[Row]:
    taken: list[list[float]] = [[] for _ in sides]
    for turn in range(rounds + 1):
        for side, times in zip(sides, taken, strict=True):
            requests = signed_fields(4 * _AT_ONCE)
            begun = time.process_time()
            for at in range(0, len(requests), _AT_ONCE):
                await asyncio.gather(*[_ask(side.app, fields) for fields in requests[at : at + _AT_ONCE]])
            if turn:  # the first one fetches, connects and fills caches
                times.append((time.process_time() - begun) / len(requests))
    floor, *others = [statistics.median(times) for times in taken]
    return [
        Row(f"what {side.name} adds", _FLOOR, (other - floor) / floor)
        for side, other in zip(sides[1:], others, strict=True)
    ]


async def _ask(app: ASGIApp, fields: list[tuple[str, str]]) -> None:
    statuses = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message) -> None:
        statuses.append(message.get("status"))

    await app(scope_of(message_of(fields)), receive, send)
    assert statuses[0] == 200, statuses


async def _application(_scope, _receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def _sides(folder: Path, opened: contextlib.AsyncExitStack) -> Iterator[_Side]:
    telemetry = Telemetry(meter_provider=MeterProvider(metric_readers=[InMemoryMetricReader()]))
    server = KeyServer(certificate(folder / "server.pem", *HOSTS))
    opened.callback(server.close)
    server.answers |= {"/jwks.json": response(JWKS), "/list": response(sign(updated=NOW, interval=1800))}
    network = server.network()
    url = server.url("/list")
    revocations = RemoteRevocationList(url, issuer=ISSUER, keys=PINNED, network=network, now=lambda: NOW)
    remote = {"keys": KeySources({"buyer": RemoteJWKS(server.url(), network=network)}), "revocations": revocations}
    yield _Side(_FLOOR, _app())
    yield _Side("telemetry", _app(telemetry=telemetry))
    yield _Side("remote keys and a revocation list", _app(**remote))
    if shutil.which("redis-server") is None:
        return
    store = opened.enter_context(Server())
    parsers = [("redis-py", {"parser_class": _AsyncRESP2Parser})]
    if HIREDIS_AVAILABLE:
        parsers.append(("redis-py with hiredis", {}))
    for name, options in parsers:
        yield _Side(name, _app(replay=_redis(opened, store, options)))
    yield _Side("all of this", _app(telemetry=telemetry, replay=_redis(opened, store, options), **remote))


def _redis(opened: contextlib.AsyncExitStack, server: Server, options: dict[str, object]) -> AsyncRedisReplayStore:
    pool = BlockingConnectionPool(port=server.port, max_connections=_AT_ONCE, timeout=5, socket_timeout=5, **options)
    client = Redis.from_pool(pool)
    opened.push_async_callback(client.aclose)
    return AsyncRedisReplayStore(client)


def _app(*, telemetry: Telemetry | None = None, replay=None, keys=KEYS, revocations=None) -> ASGIApp:
    store, on_decision = replay or MemoryReplayStore(), None
    if telemetry is not None:
        store, on_decision = telemetry.async_replay_store(store), telemetry.on_decision
    clock: Callable[[], float] = lambda: NOW  # noqa: E731 - a function of one word
    verifier = AsyncVerifier(profiles.ADCP_3_2, keys=keys, replay=store, revocations=revocations, clock=clock)
    return SignatureMiddleware(
        _application, verifier=verifier, origins=["https://seller.example.com"], on_decision=on_decision
    )

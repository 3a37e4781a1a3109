"""The cost of a claim in each replay store that has a million live nonces, and in one in process.

Needs redis-server and PostgreSQL; a store whose server is not installed has no rows.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import secrets
import shutil
import sqlite3
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import redis
from psycopg_pool import ConnectionPool
from tests.benchmarks.row import Row
from tests.stores.servers import HOST, Cluster, Postgres, Redis

from undersigned import Caps, MemoryReplayStore, SqliteReplayStore
from undersigned_postgres import SCHEMA, PostgresReplayStore
from undersigned_redis import RedisReplayStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from undersigned import ReplayStore

FORK = multiprocessing.get_context("fork")
CAPS = Caps(per_key=10_000_000)
NOW, UNTIL = 1_776_520_800.0, 1_776_521_160.0
PROCESSES, THREADS = 4, 4


@dataclass(frozen=True)
class Filled:
    """A store with live nonces.

    Attributes:
        name: what the rows call it.
        opened: opens it; in each process of its own.
        size: the bytes it takes for one nonce.
        keyids: whose nonces are claimed, in turn.
    """

    name: str
    opened: Callable[[], AbstractContextManager[ReplayStore]]
    size: float
    keyids: Sequence[str] = ("buyer",)


def rows(*, quick: bool) -> list[Row]:
    """Fill each store, then time claims of one thread and count the claims of sixteen."""
    count, seconds = (10_000, 0.2) if quick else (1_000_000, 3.0)
    found = [*_in_process(count)]
    stores = (
        *(_sqlite(count, survives=True), _sqlite(count, survives=False), _redis(count)),
        *(_cluster(count, ["buyer"]), _cluster(count, [f"buyer {number}" for number in range(60)]), _postgres(count)),
    )
    for filled in stores:
        with filled as store:
            if store is None:
                continue
            with store.opened() as opened:
                found.append(
                    Row(f"a claim, {store.name}", f"{count:,} live", _latency(opened, store.keyids), None, "us")
                )
            rate = _rate(store, seconds)
            found.append(Row(f"claims a second, {store.name}", "4 processes of 4 threads", rate, None, "per s"))
            found.append(Row(f"a live nonce, {store.name}", f"{count:,} live", store.size, None, "bytes"))
    return found


def _in_process(count: int) -> Iterator[Row]:
    store = MemoryReplayStore()
    for _ in range(count):
        store.claim("buyer", secrets.token_urlsafe(16), now=NOW, until=UNTIL, caps=CAPS)
    yield Row("a claim, MemoryReplayStore", f"{count:,} live", _latency(store), None, "us")


def _latency(store: ReplayStore, keyids: Sequence[str] = ("buyer",)) -> float:
    """Return the median microseconds of a claim."""
    taken = []
    for keyid in itertools.islice(itertools.cycle(keyids), 500):
        nonce = secrets.token_urlsafe(16)
        begun = time.perf_counter()
        store.claim(keyid, nonce, now=NOW, until=UNTIL, caps=CAPS)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken) * 1e6


def _rate(filled: Filled, seconds: float) -> float:
    """Return the claims per second that several processes of several threads make together."""
    started, answers = FORK.Barrier(PROCESSES), FORK.SimpleQueue()
    processes = [FORK.Process(target=_claim_for, args=(filled, seconds, started, answers)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    total = sum(answers.get() for _ in processes)
    for process in processes:
        process.join()
    return total / seconds


def _claim_for(filled: Filled, seconds: float, started, answers) -> None:
    with filled.opened() as store, ThreadPoolExecutor(THREADS) as pool:
        store.claim(filled.keyids[0], secrets.token_urlsafe(16), now=NOW, until=UNTIL, caps=CAPS)
        started.wait()
        deadline = time.monotonic() + seconds

        def claim(thread: int) -> int:
            for made in itertools.count():
                if time.monotonic() > deadline:
                    return made
                store.claim(
                    filled.keyids[(made + thread) % len(filled.keyids)],
                    secrets.token_urlsafe(16),
                    now=NOW,
                    until=UNTIL,
                    caps=CAPS,
                )
            raise AssertionError

        answers.put(sum(pool.map(claim, range(THREADS))))


@contextlib.contextmanager
def _sqlite(count: int, *, survives: bool) -> Iterator[Filled]:
    folder = Path(tempfile.mkdtemp(prefix="undersigned-bench-"))
    path = folder / "replay.sqlite"
    with SqliteReplayStore(path) as store:
        store.claim("buyer", "first", now=NOW, until=UNTIL, caps=CAPS)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        nonces = ((secrets.token_urlsafe(16), UNTIL) for _ in range(count))
        connection.executemany("INSERT INTO nonce (sender, nonce, until) VALUES (1, ?, ?)", nonces)
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    name = "SqliteReplayStore" if survives else "SqliteReplayStore(survives_power_loss=False)"
    opened = partial(SqliteReplayStore, path, timeout=60, survives_power_loss=survives)
    try:
        yield Filled(name, opened, path.stat().st_size / count)
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def _redis(count: int) -> Iterator[Filled | None]:
    if shutil.which("redis-server") is None:
        yield None
        return
    with Redis() as server, server.client() as client:
        before = client.info("memory")["used_memory"]
        RedisReplayStore(client).claim("buyer", "first", now=NOW, until=UNTIL, caps=CAPS)
        for _ in range(count // 1000):
            client.zadd("undersigned:{buyer}", {secrets.token_urlsafe(16): UNTIL for _ in range(1000)})
        size = (client.info("memory")["used_memory"] - before) / count

        @contextlib.contextmanager
        def opened() -> Iterator[RedisReplayStore]:
            with redis.Redis(HOST, server.port, socket_timeout=60) as made:
                yield RedisReplayStore(made)

        yield Filled("RedisReplayStore (appendfsync always)", opened, size)


@contextlib.contextmanager
def _cluster(count: int, keyids: Sequence[str]) -> Iterator[Filled | None]:
    if shutil.which("redis-server") is None:
        yield None
        return
    with Cluster() as cluster, contextlib.closing(cluster.client(redis.RedisCluster)) as client:
        nodes = [node.client() for node in cluster.nodes]
        before = sum(node.info("memory")["used_memory"] for node in nodes)
        share = count // len(keyids)
        for keyid in keyids:
            RedisReplayStore(client).claim(keyid, "first", now=NOW, until=UNTIL, caps=CAPS)
            for begun in range(0, share, 1000):
                nonces = {secrets.token_urlsafe(16): UNTIL for _ in range(min(1000, share - begun))}
                client.zadd(f"undersigned:{{{keyid}}}", nonces)
        size = (sum(node.info("memory")["used_memory"] for node in nodes) - before) / count
        for node in nodes:
            node.close()

        @contextlib.contextmanager
        def opened() -> Iterator[RedisReplayStore]:
            with contextlib.closing(cluster.client(redis.RedisCluster)) as made:
                yield RedisReplayStore(made)

        name = f"RedisReplayStore on a cluster of 3, keyids: {len(keyids)}"
        yield Filled(name, opened, size, keyids)


@contextlib.contextmanager
def _postgres(count: int) -> Iterator[Filled | None]:
    if not any(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        yield None
        return
    with Postgres() as server:
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute(SCHEMA)
            with connection.cursor().copy("COPY undersigned_nonce (keyid, nonce, until) FROM STDIN") as copy:
                for _ in range(count):
                    copy.write_row(("buyer", secrets.token_urlsafe(16), UNTIL))
            connection.execute("VACUUM ANALYZE undersigned_nonce")
            (size,) = connection.execute("SELECT pg_total_relation_size('undersigned_nonce')").fetchone()

        @contextlib.contextmanager
        def opened() -> Iterator[PostgresReplayStore]:
            with ConnectionPool(server.conninfo(), min_size=4, max_size=4) as pool:
                yield PostgresReplayStore(pool, timeout=60)

        yield Filled("PostgresReplayStore", opened, size / count)

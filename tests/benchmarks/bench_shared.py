"""What a claim in a shared store costs four workers of gunicorn, under the load of wrk.

Four workers with `MemoryReplayStore` are the floor. They must not be used so: each of them would accept a replay.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import redis
from tests.benchmarks.bench_servers import wsgi_verifying
from tests.benchmarks.load import has_wrk
from tests.benchmarks.row import Row
from tests.benchmarks.served import gunicorn_workers
from tests.benchmarks.sides import QUICK, Side, Size, answer_under_load, count_in_words
from tests.stores.servers import HOST, Redis

from undersigned import MemoryReplayStore, SqliteReplayStore
from undersigned_redis import RedisReplayStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned import ReplayStore

_WORKERS = 4
_FLOOR = "MemoryReplayStore"


def rows(*, quick: bool) -> list[Row]:
    """Measure one worker without a shared store, and four with each store."""
    if not has_wrk():
        return []
    with tempfile.TemporaryDirectory(prefix="undersigned-bench-") as name, contextlib.ExitStack() as opened:
        sides = [
            Side(store, partial(gunicorn_workers, wsgi_verifying(made), workers), workers)
            for store, workers, made in _stores(Path(name), opened)
        ]
        measured = answer_under_load(sides, QUICK if quick else Size(), Path(name))
    floor = next(done for side, done in zip(sides, measured, strict=True) if side.workers == _WORKERS)
    found = []
    for side, done in zip(sides, measured, strict=True):
        what = f"gunicorn, {count_in_words(side.workers)}, {side.name}"
        found += done.as_rows(what)
        if side.name != _FLOOR:
            found.append(Row(f"{what}: 99 % of the requests take", _FLOOR, done.p99 - floor.p99, None, "us more"))
    return found


def _stores(folder: Path, opened: contextlib.ExitStack) -> Iterator[tuple[str, int, ReplayStore]]:
    for workers in (1, _WORKERS):
        yield _FLOOR, workers, MemoryReplayStore()
    for name, survives in (("SqliteReplayStore", True), ("SqliteReplayStore(survives_power_loss=False)", False)):
        store = SqliteReplayStore(folder / f"{survives}.sqlite", timeout=60, survives_power_loss=survives)
        yield name, _WORKERS, opened.enter_context(store)
    if shutil.which("redis-server") is not None:
        server = opened.enter_context(Redis())
        client = opened.enter_context(redis.Redis(HOST, server.port, socket_timeout=60))
        yield "RedisReplayStore (appendfsync always)", _WORKERS, RedisReplayStore(client)

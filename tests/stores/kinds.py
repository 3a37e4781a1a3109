"""Every kind of store, as something that each process opens for itself."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import redis
import redis.asyncio
import valkey
import valkey.asyncio
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from undersigned import SqliteReplayStore
from undersigned_postgres import AsyncPostgresReplayStore, PostgresReplayStore
from undersigned_redis import AsyncRedisReplayStore, RedisReplayStore

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Kind:
    """How to open a store, and its asyncio variant, as context managers."""

    opened: Callable[[], contextlib.AbstractContextManager]
    opened_async: Callable[[], contextlib.AbstractAsyncContextManager]


def redis_kind(server, prefix: str, **options) -> Kind:
    return _redis_kind(server, prefix, redis.Redis, redis.asyncio.Redis, **options)


def valkey_kind(server, prefix: str, **options) -> Kind:
    return _redis_kind(server, prefix, valkey.Valkey, valkey.asyncio.Valkey, **options)


def cluster_kind(cluster, prefix: str, **options) -> Kind:
    return _redis_kind(cluster, prefix, redis.RedisCluster, redis.asyncio.RedisCluster, **options)


def valkey_cluster_kind(cluster, prefix: str, **options) -> Kind:
    return _redis_kind(cluster, prefix, valkey.ValkeyCluster, valkey.asyncio.ValkeyCluster, **options)


def _redis_kind(server, prefix: str, client, async_client, **options) -> Kind:
    @contextlib.contextmanager
    def opened():
        with contextlib.closing(server.client(client)) as made:
            yield RedisReplayStore(made, prefix=prefix, **options)

    @contextlib.asynccontextmanager
    async def opened_async():
        async with contextlib.aclosing(server.client(async_client)) as made:
            yield AsyncRedisReplayStore(made, prefix=prefix, **options)

    return Kind(opened, opened_async)


def postgres_kind(conninfo: str) -> Kind:
    @contextlib.contextmanager
    def opened():
        with ConnectionPool(conninfo, min_size=1, max_size=4) as pool:
            yield PostgresReplayStore(pool, timeout=10)

    @contextlib.asynccontextmanager
    async def opened_async():
        async with AsyncConnectionPool(conninfo, min_size=1, max_size=4) as pool:
            yield AsyncPostgresReplayStore(pool, timeout=10)

    return Kind(opened, opened_async)


class InThreads:
    """A store whose calls block, awaited."""

    def __init__(self, store):
        self.store = store

    async def full(self, keyid, **options):
        return await asyncio.to_thread(self.store.full, keyid, **options)

    async def claim(self, keyid, nonce, **options):
        return await asyncio.to_thread(self.store.claim, keyid, nonce, **options)


def sqlite_kind(path) -> Kind:
    @contextlib.asynccontextmanager
    async def opened_async():
        with SqliteReplayStore(path) as store:
            yield InThreads(store)

    return Kind(lambda: SqliteReplayStore(path), opened_async)


def kind_of(name: str, request) -> Kind:
    """The kind that is called `name`, with a store that is empty."""
    prefix = request.node.name
    match name:
        case "sqlite":
            return sqlite_kind(request.getfixturevalue("tmp_path") / "replay.sqlite")
        case "redis":
            return redis_kind(request.getfixturevalue("redis_server"), prefix)
        case "valkey":
            return valkey_kind(request.getfixturevalue("valkey_server"), prefix)
        case "cluster":
            return cluster_kind(request.getfixturevalue("cluster"), prefix, tag="store")
        case _:
            return postgres_kind(request.getfixturevalue("database"))


KINDS = ("sqlite", "redis", "valkey", "cluster", "postgres")

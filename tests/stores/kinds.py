"""Every kind of store, as something that each process opens for itself."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import redis
import redis.asyncio
import valkey
import valkey.asyncio
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from tests.stores.servers import HOST, blocking_client

from undersigned import SqliteReplayStore
from undersigned_postgres import AsyncPostgresReplayStore, PostgresReplayStore
from undersigned_redis import AsyncRedisReplayStore, RedisReplayStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


_OF_A_NODE = {"host": HOST, "socket_timeout": 10}


class Kind(Protocol):
    """How to open a store, and its asyncio variant, as context managers. It can be sent to a spawned process."""

    def opened(self) -> contextlib.AbstractContextManager: ...

    def opened_async(self) -> contextlib.AbstractAsyncContextManager: ...


@dataclass(frozen=True)
class RedisKind:
    port: int
    prefix: str
    client: Callable
    async_client: Callable
    options: dict[str, str]

    @contextlib.contextmanager
    def opened(self):
        with contextlib.closing(self.client(port=self.port)) as made:
            yield RedisReplayStore(made, prefix=self.prefix, **self.options)

    @contextlib.asynccontextmanager
    async def opened_async(self):
        async with contextlib.aclosing(self.async_client(self.port)) as made:
            yield AsyncRedisReplayStore(made, prefix=self.prefix, **self.options)


@dataclass(frozen=True)
class PostgresKind:
    conninfo: str

    @contextlib.contextmanager
    def opened(self):
        with ConnectionPool(self.conninfo, min_size=1, max_size=4) as pool:
            yield PostgresReplayStore(pool, timeout=10)

    @contextlib.asynccontextmanager
    async def opened_async(self):
        async with AsyncConnectionPool(self.conninfo, min_size=1, max_size=4) as pool:
            yield AsyncPostgresReplayStore(pool, timeout=10)


@dataclass(frozen=True)
class SqliteKind:
    path: Path

    def opened(self):
        return SqliteReplayStore(self.path)

    @contextlib.asynccontextmanager
    async def opened_async(self):
        with SqliteReplayStore(self.path) as store:
            yield InThreads(store)


def pooled_redis(port: int, **options):
    """Return an asyncio client whose pool waits for a free connection."""
    pool = redis.asyncio.BlockingConnectionPool(host=HOST, port=port, **{"socket_timeout": 10, **options})
    return redis.asyncio.Redis.from_pool(pool)


def pooled_valkey(port: int, **options):
    pool = valkey.asyncio.BlockingConnectionPool(host=HOST, port=port, **{"socket_timeout": 10, **options})
    return valkey.asyncio.Valkey.from_pool(pool)


def clustered_redis(port: int):
    return redis.asyncio.RedisCluster(host=HOST, port=port, socket_timeout=10)


def clustered_valkey(port: int):
    return valkey.asyncio.ValkeyCluster(host=HOST, port=port, socket_timeout=10)


def redis_kind(server, prefix: str, **options) -> Kind:
    return RedisKind(server.port, prefix, functools.partial(blocking_client, redis.Redis), pooled_redis, options)


def valkey_kind(server, prefix: str, **options) -> Kind:
    return RedisKind(server.port, prefix, functools.partial(blocking_client, valkey.Valkey), pooled_valkey, options)


def cluster_kind(cluster, prefix: str, **options) -> Kind:
    return RedisKind(
        cluster.port, prefix, functools.partial(redis.RedisCluster, **_OF_A_NODE), clustered_redis, options
    )


def valkey_cluster_kind(cluster, prefix: str, **options) -> Kind:
    return RedisKind(
        cluster.port, prefix, functools.partial(valkey.ValkeyCluster, **_OF_A_NODE), clustered_valkey, options
    )


class InThreads:
    """A store whose calls block, awaited."""

    def __init__(self, store):
        self.store = store

    async def full(self, keyid, **options):
        return await asyncio.to_thread(self.store.full, keyid, **options)

    async def claim(self, keyid, nonce, **options):
        return await asyncio.to_thread(self.store.claim, keyid, nonce, **options)


def kind_of(name: str, request) -> Kind:
    """The kind that is called `name`, with a store that is empty."""
    prefix = request.node.name
    match name:
        case "sqlite":
            return SqliteKind(request.getfixturevalue("tmp_path") / "replay.sqlite")
        case "redis":
            return redis_kind(request.getfixturevalue("redis_server"), prefix)
        case "valkey":
            return valkey_kind(request.getfixturevalue("valkey_server"), prefix)
        case "cluster":
            return cluster_kind(request.getfixturevalue("cluster"), prefix, tag="store")
        case _:
            return PostgresKind(request.getfixturevalue("database"))


KINDS = ("sqlite", "redis", "valkey", "cluster", "postgres")

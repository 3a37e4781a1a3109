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


def clustered(kind, port: int):
    return kind(port=port, **_OF_A_NODE)


pooled_redis = functools.partial(blocking_client, redis.asyncio.Redis)
pooled_valkey = functools.partial(blocking_client, valkey.asyncio.Valkey)


def _kind(make, client, async_client, server, prefix: str, **options) -> Kind:
    makes = (functools.partial(make, one) for one in (client, async_client))
    return RedisKind(server.port, prefix, *makes, options)


redis_kind = functools.partial(_kind, blocking_client, redis.Redis, redis.asyncio.Redis)
valkey_kind = functools.partial(_kind, blocking_client, valkey.Valkey, valkey.asyncio.Valkey)
cluster_kind = functools.partial(_kind, clustered, redis.RedisCluster, redis.asyncio.RedisCluster)
valkey_cluster_kind = functools.partial(_kind, clustered, valkey.ValkeyCluster, valkey.asyncio.ValkeyCluster)


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

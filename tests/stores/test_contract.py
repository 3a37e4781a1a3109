from __future__ import annotations

import asyncio
import multiprocessing
import os
import time
import warnings

import pytest
import redis
import valkey
from psycopg_pool import ConnectionPool
from tests.stores.kinds import KINDS, kind_of, pooled_redis, redis_kind, valkey_cluster_kind, valkey_kind

from undersigned import Caps, UndersignedError
from undersigned.fork_safety import ForkedProcess
from undersigned.replay import NoConnection
from undersigned.testing import (
    check_async_replay_store,
    check_async_replay_store_after_fork,
    check_replay_store,
    check_replay_store_after_fork,
)
from undersigned_postgres import PostgresReplayStore
from undersigned_redis import AsyncRedisReplayStore, RedisReplayStore


def check(kind, keeps=check_replay_store) -> None:
    with kind.opened() as store:
        keeps(store)


def check_async(kind, keeps=check_async_replay_store) -> None:
    async def checked() -> None:
        async with kind.opened_async() as store:
            await keeps(store)

    asyncio.run(checked())


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("keeps", [check_replay_store, check_replay_store_after_fork])
def test_store_keeps_the_contract(name, keeps, request):
    check(kind_of(name, request), keeps)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("keeps", [check_async_replay_store, check_async_replay_store_after_fork])
def test_asynchronous_store_keeps_the_contract(name, keeps, request):
    check_async(kind_of(name, request), keeps)


def test_pool_is_opened_before_the_fork_or_after_it(database):
    """Look at a pool that is not open when its store is made: the process that opens it is the one that uses it."""
    fork = multiprocessing.get_context("fork")
    for opens_before in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            receiver, sender = fork.Pipe(duplex=False)
            pool = ConnectionPool(database, min_size=1, open=False)
            store = PostgresReplayStore(pool)

            def claim(store=store, pool=pool, sender=sender, opens_before=opens_before):
                if not opens_before:
                    pool.open()
                try:
                    sender.send(store.claim("k", "n", now=0, until=360, caps=Caps(10)))
                except UndersignedError as error:
                    sender.send(str(error))

            if opens_before:
                pool.open()
            child = fork.Process(target=claim)
            child.start()
        answer = receiver.recv()
        child.join(30)
        pool.close()
        assert answer.startswith("process " if opens_before else "fresh")
        assert ("call pool.open() in post_fork of gunicorn" in answer) == opens_before


def test_asyncio_store_of_another_process_or_event_loop_says_so(redis_server, monkeypatch):
    client = pooled_redis(redis_server.port)
    store = AsyncRedisReplayStore(client, prefix="another")

    async def claim():
        return await store.claim("k", str(time.monotonic()), now=0, until=360, caps=Caps(10))

    with asyncio.Runner() as first, asyncio.Runner() as second:
        assert first.run(claim()) == "fresh"
        with pytest.raises(NoConnection, match="was used in another event loop before"):
            second.run(claim())
        with monkeypatch.context() as other:
            other.setattr(os, "getpid", lambda: 0)
            with pytest.raises(ForkedProcess, match="make the asyncio client and the store in each worker"):
                first.run(claim())
        first.run(client.aclose())


def test_each_client_works_with_each_server(redis_server, valkey_server):
    for number, (kind, server) in enumerate([(redis_kind, valkey_server), (valkey_kind, redis_server)]):
        check(kind(server, f"sync {number}"))
        check_async(kind(server, f"async {number}"))


def test_client_of_valkey_works_with_a_cluster(cluster):
    check(valkey_cluster_kind(cluster, "sync", tag="valkey"))
    check_async(valkey_cluster_kind(cluster, "async", tag="valkey"))


@pytest.mark.parametrize("client", [redis.Redis, valkey.Valkey])
@pytest.mark.parametrize("options", [{"decode_responses": True}, {"protocol": 3}, {"protocol": 2}])
def test_store_works_whether_or_not_the_client_decodes_answers(redis_server, client, options, request):
    with redis_server.client(client, **options) as made:
        store, asked = RedisReplayStore(made, prefix=request.node.name), {"now": 1, "caps": Caps(1)}
        assert [store.claim("k", nonce, until=360, **asked) for nonce in "nnm"] == ["fresh", "seen", "full"]
        assert store.full("k", **asked)

from __future__ import annotations

import asyncio

import pytest
import redis
import valkey
from tests.stores.kinds import KINDS, kind_of, redis_kind, valkey_cluster_kind, valkey_kind

from undersigned.testing import check_async_replay_store, check_replay_store
from undersigned_redis import RedisReplayStore


def check(kind) -> None:
    with kind.opened() as store:
        check_replay_store(store)


def check_async(kind) -> None:
    async def checked() -> None:
        async with kind.opened_async() as store:
            await check_async_replay_store(store)

    asyncio.run(checked())


@pytest.mark.parametrize("name", KINDS)
def test_store_keeps_the_contract(name, request):
    check(kind_of(name, request))


@pytest.mark.parametrize("name", KINDS)
def test_asynchronous_store_keeps_the_contract(name, request):
    check_async(kind_of(name, request))


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
        check_replay_store(RedisReplayStore(made, prefix=request.node.name))

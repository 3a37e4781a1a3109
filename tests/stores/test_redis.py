from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import Counter
from types import SimpleNamespace

import pytest
import redis
import redis.asyncio
import valkey
import valkey.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from tests.stores.kinds import pooled_redis, pooled_valkey
from tests.stores.servers import blocking_client

from undersigned import Caps, ConfigurationError
from undersigned.replay import NoConnection
from undersigned_redis import AsyncRedisReplayStore, RedisReplayStore
from undersigned_redis.script import OtherAnswer

ROOMY = Caps(per_key=1_000_000)
LIFE = 360.0
NOW = time.time()


@pytest.fixture(autouse=True)
def now(monkeypatch):
    """Begin each test at a time at which its clock and the server's agree, however long the session takes."""
    monkeypatch.setattr(sys.modules[__name__], "NOW", time.time() // 60 * 60 - 600)


def claim(store, nonce, *, keyid: str = "k", now: float | None = None, until: float | None = None, caps: Caps = ROOMY):
    now = NOW if now is None else now
    return store.claim(keyid, nonce, now=now, until=now + LIFE if until is None else until, caps=caps)


@pytest.fixture(params=["redis", "valkey"])
def client(request):
    server = request.getfixturevalue(f"{request.param}_server")
    with server.client(decode_responses=True) as made:
        made.flushall()
        yield made


@pytest.mark.parametrize(
    ("options", "caps", "names"),
    [
        ({}, ROOMY, ["undersigned:{k}"]),
        ({"prefix": "p"}, Caps(10, 10), ["p:counts", "p:{k}"]),
        ({"tag": "t"}, ROOMY, ["undersigned:{t}:k"]),
        ({"tag": "t", "prefix": "p:q"}, Caps(10, 10), ["p:q:{t}", "p:q:{t}:k"]),
    ],
)
def test_keys_have_the_prefix_and_the_hash_tag(client, options, caps, names):
    assert claim(RedisReplayStore(client, **options), "n", caps=caps) == "fresh"
    assert sorted(client.scan_iter()) == names


def lives(client) -> set[float]:
    """The times to live of all keys, in seconds, to ten."""
    return {round(client.ttl(key), -1) for key in client.scan_iter()}


def test_every_key_has_a_time_to_live_longer_than_a_clock_step(client):
    store = RedisReplayStore(client)
    claim(store, "n", caps=Caps(10, 10))
    assert lives(client) == {LIFE + 7200}
    claim(store, "short", until=NOW + 60, caps=Caps(10, 10))
    assert lives(client) == {LIFE + 7200}
    claim(store, "long", until=NOW + 600, caps=Caps(10, 10))
    assert lives(client) == {600 + 7200}
    assert claim(store, "late", until=NOW - 9000) == "fresh"


def test_rejected_claim_leaves_keys_with_a_time_to_live(client):
    store = RedisReplayStore(client)
    assert claim(store, "n", caps=Caps(0)) == "full"
    assert client.ttl("undersigned:{k}") > LIFE


def test_ended_nonces_are_removed_in_small_steps(client):
    store = RedisReplayStore(client)
    for number in range(100):
        claim(store, str(number))
    later = NOW + LIFE + 1
    claim(store, "later", now=later)
    assert client.zcard("undersigned:{k}") == 1 + 100 - 32 + 1
    for number in range(3):
        claim(store, f"later {number}", now=later)
    assert client.zcard("undersigned:{k}") == 1 + 4


def test_counts_of_ended_slots_are_removed(client):
    store, caps = RedisReplayStore(client), Caps(10, 10)
    claim(store, "n", caps=caps)
    claim(store, "m", now=NOW + 1000, caps=caps)
    assert client.hvals("undersigned:counts") == ["1"]


def test_stored_form_of_a_long_nonce_is_bounded(client):
    store = RedisReplayStore(client)
    claim(store, "n" * 100_000)
    assert sorted(map(len, client.zrange("undersigned:{k}", 0, -1))) == [0, 64]


def test_expiry_respects_fractions_of_a_second(client):
    store = RedisReplayStore(client)
    assert claim(store, "n", until=NOW + 0.25) == "fresh"
    assert claim(store, "m", now=NOW + 0.25) == "fresh"
    assert claim(store, "n", now=NOW + 0.25, until=NOW + 0.25) == "seen"
    assert claim(store, "o", now=NOW + 0.251) == "fresh"
    assert claim(store, "p", now=NOW, until=NOW + 0.25) == "forgotten"
    assert claim(store, "p", now=NOW, until=NOW + 0.2501) == "fresh"


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_server_that_evicts_is_rejected_with_the_first_nonce_of_a_key(client, policy):
    store = RedisReplayStore(client)
    assert claim(store, "n") == "fresh"
    client.config_set("maxmemory", "1gb")
    client.config_set("maxmemory-policy", policy)
    try:
        assert claim(store, "m") == "fresh"
        client.delete("undersigned:{k}")
        with pytest.raises(redis.ResponseError, match=f"maxmemory-policy is {policy}: set it to noeviction"):
            claim(store, "n")
        assert not client.exists("undersigned:{k}")
    finally:
        client.config_set("maxmemory-policy", "noeviction")
    assert claim(store, "n") == "fresh"
    client.config_set("maxmemory", "0")


def test_full_server_removes_ended_nonces_only(client):
    store = RedisReplayStore(client)
    for number in range(40):
        claim(store, str(number))
    claim(store, "live", until=NOW + 9000)
    client.config_set("maxmemory", "1kb")
    try:
        with pytest.raises(redis.ResponseError, match="maxmemory"):
            claim(store, "new")
        assert claim(store, "0") == "seen"
        later = NOW + LIFE + 1
        assert claim(store, "new", now=later) == "fresh"
        assert claim(store, "live", now=later) == "seen"
        assert claim(store, "0", now=NOW) == "forgotten"
    finally:
        client.config_set("maxmemory", "0")


def test_full_server_takes_no_nonce_that_would_live_longer_than_the_others(client):
    store = RedisReplayStore(client)
    for caps in (ROOMY, Caps(10, 10)):
        assert claim(store, "before", keyid=str(caps), caps=caps) == "fresh"
    client.config_set("maxmemory", "1kb")
    try:
        for caps in (ROOMY, Caps(10, 10)):
            with pytest.raises(redis.ResponseError, match="maxmemory"):
                claim(store, "later", keyid=str(caps), until=NOW + LIFE + 100, caps=caps)
            assert claim(store, "before", keyid=str(caps), until=NOW + LIFE + 100, caps=caps) == "seen"
    finally:
        client.config_set("maxmemory", "0")


def test_each_claim_is_one_command(client):
    store = RedisReplayStore(client)
    claim(store, "n")
    client.config_resetstat()
    claim(store, "m")
    commands = client.info("commandstats")
    assert commands["cmdstat_evalsha"]["calls"] == 1
    assert not {"cmdstat_eval", "cmdstat_script|load", "cmdstat_info"} & set(commands)


class Elsewhere:
    """A client whose connections cannot be looked at."""

    def register_script(self, script):
        return script


@pytest.mark.parametrize("client", [None, "redis://127.0.0.1", object()])
@pytest.mark.parametrize("store", [RedisReplayStore, AsyncRedisReplayStore])
def test_value_is_rejected_when_it_is_not_a_client(store, client):
    with pytest.raises(ConfigurationError, match="client: pass a client of redis-py or valkey-py"):
        store(client)


@pytest.mark.parametrize("client", [redis.Redis(), redis.asyncio.Redis()])
def test_client_of_the_other_kind_is_rejected_with_the_right_store(client):
    awaited = isinstance(client, redis.asyncio.Redis)
    wrong, right = (RedisReplayStore, AsyncRedisReplayStore) if awaited else (AsyncRedisReplayStore, RedisReplayStore)
    with pytest.raises(ConfigurationError, match=f"client: this is a client for {right.__name__}"):
        wrong(client)


@pytest.mark.parametrize(
    ("store", "client"),
    [
        (RedisReplayStore, valkey.Valkey()),
        (RedisReplayStore, redis.Redis(socket_timeout=None)),
        (AsyncRedisReplayStore, valkey.asyncio.Valkey(socket_timeout=None)),
        (AsyncRedisReplayStore, valkey.asyncio.ValkeyCluster("127.0.0.1", 1, socket_timeout=None)),
        (RedisReplayStore, Elsewhere()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_client_without_a_timeout_is_rejected(store, client):
    with pytest.raises(ConfigurationError, match="client: give it a socket_timeout"):
        store(client)


@pytest.mark.parametrize("kind", [redis.asyncio.Redis, valkey.asyncio.Valkey, redis.Redis, valkey.Valkey])
def test_pool_that_does_not_wait_for_a_connection_is_rejected(kind):
    store = AsyncRedisReplayStore if "asyncio" in kind.__module__ else RedisReplayStore
    with pytest.raises(ConfigurationError, match="client: give it a blocking pool"):
        store(kind(socket_timeout=1))


@pytest.mark.parametrize("library", [redis, valkey])
def test_client_of_one_connection_is_a_mistake(library, redis_server):
    single = {"port": redis_server.port, "socket_timeout": 1, "single_connection_client": True}
    made = (library.Redis if library is redis else library.Valkey)(**single)
    with made, pytest.raises(ConfigurationError, match="leave out single_connection_client"):
        RedisReplayStore(made)
    awaited = library.asyncio.Redis if library is redis else library.asyncio.Valkey
    with pytest.raises(ConfigurationError, match="leave out single_connection_client"):
        AsyncRedisReplayStore(awaited(**single))


def test_server_that_does_not_keep_its_data_is_named_once(client, caplog):
    store = RedisReplayStore(client)
    assert claim(store, "n", keyid="j") == "fresh"
    assert not caplog.messages
    client.config_set("appendonly", "no")
    try:
        for keyid in "kl":
            assert claim(store, "n", keyid=keyid) == "fresh"
    finally:
        client.config_set("appendonly", "yes")
    assert [message.split(".")[0] for message in caplog.messages] == ["RedisReplayStore: the server has appendonly no"]


@pytest.mark.parametrize("pooled", [pooled_redis, pooled_valkey])
def test_claims_that_come_at_once_are_answered_each_for_itself_over_few_connections(pooled, redis_server):
    async def checked() -> None:
        async with contextlib.aclosing(pooled(redis_server.port, max_connections=2)) as client:
            store = AsyncRedisReplayStore(client, prefix="at once")
            with redis_server.client() as admin:
                admin.flushall()
                admin.script_flush()
            nonces = [str(number % 100) for number in range(200)]
            answers = await asyncio.gather(*[claim(store, nonce) for nonce in nonces])
            # Which of two claims is the first one is open if they are of two batches.
            assert Counter(zip(nonces, answers, strict=True)) == Counter(
                (str(number), answer) for number in range(100) for answer in ("fresh", "seen")
            )
            assert await claim(store, "alone") == "fresh"

    asyncio.run(checked())


def test_claim_of_a_batch_that_the_server_rejects_fails_alone(redis_server):
    async def checked() -> None:
        async with contextlib.aclosing(pooled_redis(redis_server.port)) as client:
            store = AsyncRedisReplayStore(client, prefix="alone")
            with redis_server.client() as admin:
                admin.flushall()
                admin.set("alone:{wrong}", "a string")
            for nonce in "nm":
                answers = await asyncio.gather(
                    *[claim(store, nonce, keyid=keyid) for keyid in ("a", "wrong", "b")], return_exceptions=True
                )
                assert [answers[0], answers[2]] == ["fresh", "fresh"]
                assert isinstance(answers[1], redis.ResponseError)

    asyncio.run(checked())


def test_every_claim_of_a_batch_fails_if_the_server_cannot_be_reached():
    async def checked() -> None:
        async with contextlib.aclosing(pooled_redis(1, retry=AsyncRetry(NoBackoff(), 0))) as client:
            store = AsyncRedisReplayStore(client)
            answers = await asyncio.gather(*[claim(store, nonce) for nonce in "nml"], return_exceptions=True)
            assert [type(answer) for answer in answers] == [redis.ConnectionError] * 3

    asyncio.run(checked())


class Hanging:
    """A client whose server does not answer before it is told to."""

    connection_pool = SimpleNamespace(connection_kwargs={"socket_timeout": 1}, timeout=1)
    sha = ""

    def __init__(self) -> None:
        self.asked, self.answers = asyncio.Event(), asyncio.Event()
        self.told = []

    async def execute_command(self):
        """Mark the client as one of asyncio."""

    def register_script(self, _script):
        return self

    async def __call__(self, _keys, args):
        self.ask(*args)
        return (await self.execute())[-1]

    def pipeline(self, **_options):
        return SimpleNamespace(execute_command=self.ask, execute=self.execute)

    def ask(self, *words):
        self.told.append(8 * words[-1] + 3)

    async def execute(self, **_options):
        self.asked.set()
        await self.answers.wait()
        return self.told


def test_claim_that_is_cancelled_does_not_end_the_others_of_its_batch():
    async def checked() -> None:
        client = Hanging()
        store = AsyncRedisReplayStore(client)
        first, second = [asyncio.ensure_future(claim(store, nonce)) for nonce in "nm"]
        await client.asked.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        client.answers.set()
        assert await second == "fresh"

    asyncio.run(checked())


def test_batch_whose_task_is_cancelled_before_it_begins_takes_no_more_claims():
    async def checked() -> None:
        client = Hanging()
        client.answers.set()
        store, before = AsyncRedisReplayStore(client), asyncio.all_tasks()
        waiting = asyncio.ensure_future(claim(store, "n"))
        await asyncio.sleep(0)
        [sending] = asyncio.all_tasks() - before - {waiting}
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await claim(store, "n") == "fresh"

    asyncio.run(checked())


def test_batch_of_a_loop_that_ended_before_it_began_takes_no_more_claims():
    client = Hanging()
    client.answers.set()
    store = AsyncRedisReplayStore(client)
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        waiting = loop.create_task(claim(store, "n"))
        loop.call_soon(loop.stop)
        loop.run_forever()
        assert asyncio.run(claim(store, "n")) == "fresh"
        # Its loop ends what is left.
        assert loop.run_until_complete(waiting) == "fresh"


class Spoilt:
    """A client whose connection has one more answer, which an interrupted call has left there."""

    connection_pool = SimpleNamespace(connection_kwargs={"socket_timeout": 1}, timeout=1)

    def __init__(self, left) -> None:
        self.left = [left]

    def register_script(self, _script):
        return self

    def __call__(self, _keys, args):
        self.left.append(8 * args[-1] + 3)
        return self.left.pop(0)

    def close(self) -> None:
        self.left.clear()


@pytest.mark.parametrize("left", [0, 1, 8 * 41 + 3])
def test_answer_to_an_interrupted_call_is_no_answer_to_the_next_one(left):
    for question, answer in ((lambda store: claim(store, "n"), "fresh"), (is_full, True)):
        store = RedisReplayStore(Spoilt(left))
        with pytest.raises(OtherAnswer):
            question(store)
        assert question(store) == answer


def is_full(store):
    return store.full("k", now=NOW, caps=ROOMY)


COMMAND = {redis: [], valkey: ["PING"]}
"""What `get_connection` of each library asks for."""


@pytest.mark.parametrize("pooled", [pooled_redis, pooled_valkey])
def test_asynchronous_pool_without_a_free_connection_is_named(pooled, redis_server):
    async def checked() -> None:
        async with contextlib.aclosing(pooled(redis_server.port, max_connections=1, timeout=0.1)) as client:
            store = AsyncRedisReplayStore(client, prefix="one connection")
            held = await client.connection_pool.get_connection(*COMMAND[valkey if pooled is pooled_valkey else redis])
            for question in (claim(store, "n"), store.full("k", now=NOW, caps=ROOMY)):
                with pytest.raises(NoConnection, match="raise its max_connections"):
                    await question
            await client.connection_pool.release(held)
            assert await claim(store, "n") in {"fresh", "seen"}

    asyncio.run(checked())


@pytest.mark.parametrize(("library", "kind"), [(redis, redis.Redis), (valkey, valkey.Valkey)])
def test_pool_without_a_free_connection_is_named(library, kind, redis_server):
    with blocking_client(kind, redis_server.port, max_connections=1, timeout=0.1) as client:
        made = client.connection_pool
        store = RedisReplayStore(client, prefix="one connection")
        held = made.get_connection(*COMMAND[library])
        for question in (lambda: claim(store, "n"), lambda: store.full("k", now=NOW, caps=ROOMY)):
            with pytest.raises(NoConnection, match="raise its max_connections"):
                question()
        made.release(held)
        assert claim(store, "n") in {"fresh", "seen"}


@pytest.mark.parametrize("option", ["prefix", "tag"])
@pytest.mark.parametrize("text", ["", "a{b", "a}b", 7])
def test_invalid_prefix_or_tag_is_rejected(option, text):
    with pytest.raises(ConfigurationError, match=f"{option}: give a string that is not empty and has no braces"):
        RedisReplayStore(blocking_client(redis.Redis, 1), **{option: text})


@pytest.mark.parametrize("replicas", [-1, 1.5, "1", True])
def test_number_of_replicas_is_rejected_when_it_is_not_a_positive_integer(replicas):
    with pytest.raises(ConfigurationError, match="replicas: give how many replicas"):
        RedisReplayStore(blocking_client(redis.Redis, 1), replicas=replicas)


@pytest.mark.parametrize("seconds", [0, -1, 1, 5])
def test_replica_timeout_must_be_below_the_socket_timeout(seconds):
    client = blocking_client(redis.Redis, 1, socket_timeout=1)
    with pytest.raises(ConfigurationError, match="replica_timeout: give seconds greater than 0 and less than"):
        RedisReplayStore(client, replicas=1, replica_timeout=seconds)
    assert RedisReplayStore(client, replica_timeout=seconds)


def test_replicas_of_a_cluster_are_rejected(cluster):
    with cluster.client() as client, pytest.raises(ConfigurationError, match="replicas: a cluster's client cannot"):
        RedisReplayStore(client, replicas=1)


def test_cap_of_all_keys_needs_a_tag_on_a_cluster(cluster):
    caps = Caps(10, 10)
    with cluster.client() as client:
        with pytest.raises(redis.exceptions.RedisClusterException, match="same key slot"):
            claim(RedisReplayStore(client, prefix="spread"), "n", caps=caps)
        assert claim(RedisReplayStore(client, tag="one"), "n", caps=caps) == "fresh"


def test_keyids_are_spread_over_the_nodes_of_a_cluster_unless_there_is_a_tag(cluster):
    with cluster.client() as client:
        for tag, nodes in ((None, 3), ("t", 1)):
            store = RedisReplayStore(client, prefix=f"spread {nodes}", tag=tag)
            for number in range(30):
                assert claim(store, "n", keyid=f"key {number}") == "fresh"
            found = {client.get_node_from_key(key).port for key in client.scan_iter(match=f"spread {nodes}:*")}
            assert len(found) == nodes

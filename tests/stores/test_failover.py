from __future__ import annotations

import contextlib
import time

import pytest
import redis
import valkey
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel
from tests.stores.servers import HOST, Cluster, Redis, Server, Valkey
from tests.stores.traffic import Traffic
from tests.workers import wait_until

from undersigned import Caps
from undersigned_redis import NotReplicated, RedisReplayStore

CAPS = Caps(per_key=1_000_000)
TIMES = {"now": 1_776_520_800.0, "until": 1_776_521_160.0}


class Watcher(Server):
    """A Sentinel that makes the replica of a primary the next primary."""

    def __init__(self, primary: Redis) -> None:
        super().__init__()
        self.file = self.folder / "sentinel.conf"
        self.file.write_text(
            f"port {self.port}\nbind {HOST}\ndir {self.folder}\n"
            f"sentinel monitor store {HOST} {primary.port} 1\n"
            "sentinel down-after-milliseconds store 500\nsentinel failover-timeout store 2000\n"
        )

    def command(self) -> list[str]:
        return ["redis-server", str(self.file), "--sentinel"]

    def answers(self) -> bool:
        with contextlib.suppress(redis.RedisError), redis.Redis(port=self.port) as client:
            return client.ping()
        return False


def leads(sentinel: Sentinel, server: Redis) -> bool:
    with contextlib.suppress(redis.sentinel.MasterNotFoundError):
        return sentinel.discover_master("store") == (HOST, server.port)
    return False


def replica_of(primary: Redis) -> Redis:
    replica = type(primary)("--replicaof", f"{HOST} {primary.port}")
    replica.start()
    with replica.client() as client:
        wait_until(lambda: client.info("replication")["master_link_status"] == "up")
    return replica


@contextlib.contextmanager
def pair(kind):
    with kind() as primary, contextlib.ExitStack() as stack:
        replica = replica_of(primary)
        stack.callback(replica.__exit__)
        yield primary, replica


def test_failover_of_sentinel_loses_no_claim_that_a_replica_confirmed():
    with pair(Redis) as (primary, replica), Watcher(primary) as watcher:
        sentinel = Sentinel([(HOST, watcher.port)], socket_timeout=0.5)
        wait_until(lambda: sentinel.discover_slaves("store") == [(HOST, replica.port)])
        options = {"socket_timeout": 0.5, "retry": Retry(NoBackoff(), 0)}
        with sentinel.master_for("store", **options) as client:
            # The replica that becomes the primary has no replica of its own to wait for.
            store = RedisReplayStore(client, replicas=1, replica_timeout=0.3)
            with Traffic(store) as traffic:
                traffic.flows()
                primary.kill()
                traffic.fails()
                wait_until(lambda: leads(sentinel, replica))
                traffic.fails()
                primary.start()
                traffic.flows()
            traffic.check(store)


@pytest.mark.parametrize("kind", [Redis, Valkey])
def test_claim_that_no_replica_confirms_raises(kind):
    with pair(kind) as (primary, replica), primary.client(valkey.Valkey) as client:
        store = RedisReplayStore(client, replicas=1, replica_timeout=9)
        assert store.claim("k", "a", caps=CAPS, **TIMES) == "fresh"
        replica.pause()
        with pytest.raises(NotReplicated, match="0 of 1 replicas confirmed the claim in time"):
            RedisReplayStore(client, replicas=1, replica_timeout=0.2).claim("k", "b", caps=CAPS, **TIMES)
        replica.resume()
        wait_until(lambda: store.claim("k", f"c {time.monotonic()}", caps=CAPS, **TIMES) == "fresh")
        assert store.claim("k", "b", caps=CAPS, **TIMES) == "seen"


@pytest.fixture(scope="module")
def replicated_cluster():
    with Cluster(primaries=3, replicas=3) as nodes:
        yield nodes


def test_planned_failover_of_a_cluster_admits_no_replay(replicated_cluster):
    with replicated_cluster.client() as client:
        store = RedisReplayStore(client)
        primary = client.get_node_from_key("undersigned:{buyer-ed25519}").port
        (number,) = (number for number, node in enumerate(replicated_cluster.nodes) if node.port == primary)
        with Traffic(store) as traffic:
            traffic.flows()
            with replicated_cluster.nodes[(number + 3) % 6].client() as replica:
                replica.execute_command("CLUSTER FAILOVER")
            traffic.flows()
        traffic.check(store)


def test_node_of_a_cluster_that_is_killed_admits_nothing_and_recovers():
    with Cluster() as cluster:
        options = {"retry": Retry(NoBackoff(), 0), "socket_timeout": 0.5}
        with cluster.client(**options) as client:
            store = RedisReplayStore(client)
            port = client.get_node_from_key("undersigned:{buyer-ed25519}").port
            (node,) = (node for node in cluster.nodes if node.port == port)
            with Traffic(store) as traffic:
                traffic.flows()
                node.kill()
                traffic.fails()
                node.start()
                traffic.flows()
            traffic.check(store)


def test_failover_after_a_crash_continues_with_the_data_of_the_replica(replicated_cluster):
    """What the replica has not got yet is lost: this is what `replicas` is for, and what a cluster cannot wait for."""
    with replicated_cluster.client() as client:
        store = RedisReplayStore(client, prefix="crash")
        port = client.get_node_from_key("crash:{buyer-ed25519}").port
        (node,) = (node for node in replicated_cluster.nodes if node.port == port)
        with Traffic(store) as traffic:
            traffic.flows()
            claimed = list(traffic.accepted)
        wait_until(lambda: is_replicated(node))
        node.kill()
        sent = Traffic(store)
        wait_until(lambda: sent.send(claimed[0]) == "request_signature_replayed")
        sent.accepted = claimed
        sent.check(store)
        node.start()


def is_replicated(node) -> bool:
    """Whether the replica has all that its primary has."""
    with node.client() as client:
        info = client.info("replication")
        return info["slave0"]["offset"] == info["master_repl_offset"]

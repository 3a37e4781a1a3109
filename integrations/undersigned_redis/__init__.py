"""Replay stores in Redis or Valkey, for the processes of several hosts.

`RedisReplayStore(client)` takes a client of redis-py or valkey-py, for one server, Sentinel or a cluster;
`AsyncRedisReplayStore(client)` takes their asyncio clients.
"""

from undersigned_redis.client import NotReplicated
from undersigned_redis.script import OtherAnswer
from undersigned_redis.store import AsyncRedisReplayStore, RedisReplayStore

__all__ = ["AsyncRedisReplayStore", "NotReplicated", "OtherAnswer", "RedisReplayStore"]

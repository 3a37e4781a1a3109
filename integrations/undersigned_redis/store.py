"""The two stores: one whose calls block, one whose answers are awaited."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from undersigned.fork_safety import Home
from undersigned.verification import awaited, finish
from undersigned_redis.batches import Batches
from undersigned_redis.client import NotReplicated, check_client, named_exhaustion
from undersigned_redis.script import CLAIM, CLAIMS, FULL, VOLATILE, Names, OtherAnswer, ScriptCall

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from undersigned import Caps, Claim
    from undersigned_redis.client import Client

Answer = TypeVar("Answer")

logger = logging.getLogger("undersigned")

_VOLATILE = (
    "RedisReplayStore: the server has appendonly no. A restart of it forgets all nonces, and each signed request of "
    "the last minutes can then be replayed once; set appendonly yes and appendfsync always"
)

_OPEN_IN_EACH = "make the asyncio client and the store in each worker"


class _RedisStore:
    """The common part of both stores."""

    __slots__ = (
        "_batches",
        "_claim",
        "_client",
        "_full",
        "_home",
        "_is_volatile",
        "_names",
        "_replica_timeout",
        "_replicas",
    )

    _awaited: ClassVar[bool]

    def __init__(
        self,
        client: Client,
        *,
        prefix: str = "undersigned",
        tag: str | None = None,
        replicas: int = 0,
        replica_timeout: float = 0.5,
    ) -> None:
        self._client = check_client(client, awaited=self._awaited, replicas=replicas, replica_timeout=replica_timeout)
        self._names = Names(prefix, tag)
        self._replicas = replicas
        self._replica_timeout = replica_timeout
        self._claim, self._full = client.register_script(CLAIM), client.register_script(FULL)
        is_alone = not self._awaited or replicas or hasattr(client, "nodes_manager")
        self._batches = None if is_alone else Batches(client, self._claim)
        self._home = Home(_OPEN_IN_EACH, is_open=lambda: False)
        self._is_volatile = False

    async def _is_full(self, call: ScriptCall) -> bool:
        with named_exhaustion():
            return call.read(await awaited(self._full(call.keys, call.args))) == 1

    async def _made(self, call: ScriptCall) -> Claim:
        """Make a claim. The first time that the server is found not to keep its data, say so."""
        with named_exhaustion():
            told = call.read(await self._answer(call))
        if told == VOLATILE and not self._is_volatile:
            self._is_volatile = True
            logger.warning(_VOLATILE)
        return CLAIMS[told]

    async def _answer(self, call: ScriptCall) -> object:
        if self._batches is not None:
            return await self._batches.answer(call)
        if not self._replicas:
            return await awaited(self._claim(call.keys, call.args))
        # The claim and the wait for replicas must use the same connection.
        pipeline = self._client.pipeline(transaction=False)
        pipeline.execute_command("EVAL", CLAIM, len(call.keys), *call.keys, *call.args)
        pipeline.execute_command("WAIT", self._replicas, int(self._replica_timeout * 1000))
        answer, confirmed = await awaited(pipeline.execute())
        if cast("int", confirmed) < self._replicas:
            told = f"{confirmed} of {self._replicas} replicas confirmed the claim in time"
            raise NotReplicated(f"{told}: check the replication")
        return answer


class RedisReplayStore(_RedisStore):
    """A replay store in Redis or Valkey. Safe to share between threads, as its client is.

    Each claim is one script and one round trip. The server must have `maxmemory-policy noeviction`, and keep its data
    when it restarts (`appendonly yes`, `appendfsync always`). Give the client a `socket_timeout` and no retries: a
    claim that the client sends a second time finds its own nonce.

    Args:
        client: a client of redis-py or valkey-py, of one server, of Sentinel or of a cluster. The pool of one server's
            client must wait for a free connection (`BlockingConnectionPool`).
        prefix: the beginning of the names of all keys.
        tag: the hash tag that all keys of the store share on a cluster, so that they are on one node. A profile with a
            total cap needs a tag on a cluster. By default, the key ID is the hash tag.
        replicas: how many replicas must confirm each claim, so that a failover loses none. Not on a cluster.
        replica_timeout: the seconds that they may take.

    Raises:
        ConfigurationError: an option has the wrong type or value.
    """

    __slots__ = ()

    blocking = True
    _awaited = False

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`.

        Raises:
            Exception: the client's error, if the server is unavailable.
        """
        return self._finish(self._is_full(self._names.full(keyid, now=now, caps=caps)))

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """Remember the pair until `until`, atomically with both checks. A content counts as one more nonce.

        Raises:
            NotReplicated: too few replicas have confirmed it.
            NoConnection: no connection of the pool became free in time.
            OtherAnswer: an interrupted call, such as one that a timeout of gevent ended, has spoilt the connection.
            Exception: the client's error, if the server is unavailable or evicts keys.
        """
        call = self._names.claim(keyid, nonce, now=now, until=until, caps=caps, content=content)
        return self._finish(self._made(call))

    def _finish(self, asking: Coroutine[object, object, Answer]) -> Answer:
        try:
            return finish(asking)
        except OtherAnswer:
            self._client.close()
            raise


class AsyncRedisReplayStore(_RedisStore):
    """`RedisReplayStore` for the asyncio clients of redis-py and valkey-py.

    Claims that come at once share a round trip and a connection, unless the client is of a cluster or the store waits
    for replicas.

    Args:
        client: an asyncio client, of one server, of Sentinel or of a cluster.
        prefix: as for `RedisReplayStore`.
        tag: as for `RedisReplayStore`.
        replicas: as for `RedisReplayStore`.
        replica_timeout: as for `RedisReplayStore`.

    Raises:
        ConfigurationError: an option has the wrong type or value.
    """

    __slots__ = ()

    _awaited = True

    async def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`; as `RedisReplayStore.full`."""
        self._home.check()
        return await self._is_full(self._names.full(keyid, now=now, caps=caps))

    async def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """Remember the pair until `until`, atomically with both checks; as `RedisReplayStore.claim`."""
        self._home.check()
        call = self._names.claim(keyid, nonce, now=now, until=until, caps=caps, content=content)
        return await self._made(call)

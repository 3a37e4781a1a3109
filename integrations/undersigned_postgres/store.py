"""The two stores: one whose calls block, one whose answers are awaited."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast
from weakref import WeakValueDictionary

from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout, TooManyRequests

from undersigned import ConfigurationError
from undersigned.fork_safety import Home
from undersigned.replay import NoConnection, bounded_keyid, bounded_nonce
from undersigned.verification import awaited, finish
from undersigned_postgres.exchange import ask, ask_async
from undersigned_postgres.schema import VERSION, Call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Generator

    from undersigned import Caps, Claim

Pool = TypeVar("Pool")

_PAUSE = 10
"""Seconds between two deletions of ended nonces."""

_MOST_FORGOTTEN = 10_000
"""How many ended nonces are deleted at a time."""

_VERSION_CALL = Call.of("undersigned_forget", 0, _MOST_FORGOTTEN, VERSION)
"""The call of a readiness check, whose claim ends at once. It compares the version and deletes nothing: no sender's
clock confirms the verifier's, and a wrong one would make the store forget what is live."""

_LONGEST_TIMEOUT = 3600

_OPEN_IN_EACH = (
    "open the pool in each worker: make it with open=False and call pool.open() in post_fork of gunicorn or in "
    "@postfork of uWSGI, or load the application there (no --preload; lazy-apps)"
)

_MOST_OF_A_KEY = 2
"""Connections that the tasks with claims of one key use at once: the database makes these one after the other."""


class _PostgresStore(ABC, Generic[Pool]):
    """The common part of both stores."""

    __slots__ = ("_forgot", "_home", "_pool", "_timeout")

    _kind: ClassVar[type]

    def __init__(self, pool: Pool, *, timeout: float = 2.0) -> None:
        if not isinstance(pool, self._kind):
            raise ConfigurationError(f"pool: pass a psycopg_pool.{self._kind.__name__}")
        if not isinstance(timeout, (int, float)) or not 0 < timeout <= _LONGEST_TIMEOUT:
            raise ConfigurationError("timeout: give seconds greater than 0, such as 2, and at most an hour")
        self._pool = pool
        self._home = Home(_OPEN_IN_EACH, is_open=lambda: not cast("Any", pool).closed)
        self._timeout = timeout
        self._forgot: float | None = None

    @contextmanager
    def _named_exhaustion(self) -> Generator[None]:
        self._home.check()
        try:
            yield
        except (PoolTimeout, TooManyRequests) as error:
            raise NoConnection(
                f"no connection of the pool was free within {self._timeout} s: the database cannot be reached, or all "
                "connections are in use: raise the pool's max_size, or add workers"
            ) from error

    @abstractmethod
    def _ask(self, call: Call) -> str | Awaitable[str]:
        """Return what the database answers."""

    async def _forget(self, now: float, until: float) -> None:
        """Delete ended nonces after a pause, or at once if the last deletion has left some."""
        if until <= now:
            await awaited(self._ask(_VERSION_CALL))
        elif self._forgot is None or abs(now - self._forgot) >= _PAUSE:
            self._forgot = now
            # A database with another version rejects it.
            forget = Call.of("undersigned_forget", now, _MOST_FORGOTTEN, VERSION)
            if int(await awaited(self._ask(forget))) >= _MOST_FORGOTTEN:
                self._forgot = None


def _claim(keyid: str, nonce: str, now: float, until: float, caps: Caps, content: str | None) -> Call:
    names = bounded_keyid(keyid), bounded_nonce(nonce)
    return Call.of("undersigned_claim", *names, now, until, caps.per_key, caps.total, content)


def _full(keyid: str, now: float, caps: Caps) -> Call:
    return Call.of("undersigned_full", bounded_keyid(keyid), now, caps.per_key, caps.total)


class PostgresReplayStore(_PostgresStore[ConnectionPool[Any]]):
    """A replay store in PostgreSQL. Safe to share between threads, as its pool is.

    Each claim is one function call, one transaction and one round trip. Claims of the same key ID are made one after
    the other. A claim is on the disk when it is answered, and on the replicas that `synchronous_standby_names` lists.
    Every ten seconds a claim first deletes up to 10,000 nonces that have ended.

    Args:
        pool: a `psycopg_pool.ConnectionPool`, to a database with the tables and functions of `SCHEMA`. Do not give it
            a `check`, which waits without a limit for a server that hangs.
        timeout: the seconds that getting a connection may take, and then each answer.

    Raises:
        ConfigurationError: an option has the wrong type or value.
    """

    __slots__ = ()

    blocking = True
    _kind = ConnectionPool

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`.

        Raises:
            psycopg.Error: the database is unavailable.
        """
        return self._ask(_full(keyid, now, caps)) == "t"

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """Remember the pair until `until`, atomically with both checks.

        Raises:
            psycopg.Error: the database is unavailable, or has the tables and functions of another release.
            NoConnection: no connection of the pool became free in time.
            ForkedProcess: the pool was opened before this process was forked.
        """
        finish(self._forget(now, until))
        return cast("Claim", self._ask(_claim(keyid, nonce, now, until, caps, content)))

    def _ask(self, call: Call) -> str:
        with self._named_exhaustion(), self._pool.connection(timeout=self._timeout) as connection:
            try:
                return ask(connection.pgconn, call, timeout=self._timeout)
            except BaseException:
                # A late answer must not be taken for the answer to the next call.
                connection.close()
                raise


class AsyncPostgresReplayStore(_PostgresStore[AsyncConnectionPool[Any]]):
    """`PostgresReplayStore` for a `psycopg_pool.AsyncConnectionPool`.

    Tasks with claims of the same key ID use two connections of the pool at most, so that they do not use up the pool.

    Args:
        pool: the pool, to a database with the tables and functions of `SCHEMA`.
        timeout: the seconds that waiting for other claims of the key, for a connection and for each answer may take.

    Raises:
        ConfigurationError: an option has the wrong type or value.
    """

    __slots__ = ("_turns",)

    _kind = AsyncConnectionPool

    def __init__(self, pool: AsyncConnectionPool[Any], *, timeout: float = 2.0) -> None:
        super().__init__(pool, timeout=timeout)
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`; as `PostgresReplayStore.full`."""
        return await self._ask(_full(keyid, now, caps)) == "t"

    async def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """Remember the pair until `until`, atomically with both checks; as `PostgresReplayStore.claim`."""
        await self._forget(now, until)
        turn = self._turns.setdefault(keyid, asyncio.Semaphore(_MOST_OF_A_KEY))
        try:
            async with asyncio.timeout(self._timeout):
                await turn.acquire()
        except TimeoutError:
            message = f"other claims of the same key took longer than {self._timeout} s"
            raise NoConnection(message) from None
        try:
            return cast("Claim", await self._ask(_claim(keyid, nonce, now, until, caps, content)))
        finally:
            turn.release()

    async def _ask(self, call: Call) -> str:
        with self._named_exhaustion():
            async with self._pool.connection(timeout=self._timeout) as connection:
                try:
                    return await ask_async(connection.pgconn, call, timeout=self._timeout)
                except BaseException:
                    await connection.close()
                    raise

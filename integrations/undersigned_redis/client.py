"""The client of Redis or Valkey: the methods that a store needs, and a check of the client."""

from __future__ import annotations

from contextlib import contextmanager
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Protocol, cast

from undersigned import ConfigurationError, UndersignedError
from undersigned.replay import NoConnection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Generator, Mapping, Sequence


_OF_ONE_CONNECTION = ("single_connection_client", "_single_connection_client", "connection")
"""Attributes of a client, of which one is set if it keeps one connection."""

_EXHAUSTED = {"No connection available.", "Too many connections"}
"""What the errors of redis-py and valkey-py say if a pool has no free connection."""


class NotReplicated(UndersignedError):
    """Raised when too few replicas have confirmed a claim in time. The operator must act."""


class Script(Protocol):
    """A script that the server knows by its digest.

    Attributes:
        sha: the digest.
    """

    sha: str

    def __call__(self, keys: Sequence[str], args: Sequence[str | int]) -> object:
        """Run it."""
        ...


class Pipeline(Protocol):
    """Commands that are sent together."""

    def execute_command(self, *words: str | int) -> object:
        """Add a command."""
        ...

    def execute(self, *, raise_on_error: bool = True) -> Sequence[object] | Awaitable[Sequence[object]]:
        """Send the commands, and return the answers."""
        ...


class Client(Protocol):
    """A client of redis-py or valkey-py."""

    def register_script(self, script: str) -> Script:
        """Return `script` as a callable."""
        ...

    def pipeline(self, *, transaction: bool) -> Pipeline:
        """Return an empty pipeline."""
        ...

    def close(self) -> object:
        """Close the connections. The next call opens new ones."""
        ...


def check_client(client: object, *, awaited: bool, replicas: int, replica_timeout: float) -> Client:
    """Return the client if a store can use it.

    Args:
        client: what the user gave.
        awaited: whether it must be an asyncio client.
        replicas: how many replicas must confirm a claim.
        replica_timeout: the seconds that they may take.

    Raises:
        ConfigurationError: it is not such a client, may wait forever, or cannot wait for replicas.
    """
    if not callable(getattr(client, "register_script", None)):
        raise ConfigurationError("client: pass a client of redis-py or valkey-py, such as redis.Redis(...)")
    if iscoroutinefunction(getattr(client, "execute_command", None)) is not awaited:
        other = "RedisReplayStore" if awaited else "AsyncRedisReplayStore"
        raise ConfigurationError(f"client: this is a client for {other}; use that store, or pass the other client")
    options = _connection_options(client)
    timeout = options.get("socket_timeout")
    if not isinstance(timeout, (int, float)) or timeout <= 0:
        raise ConfigurationError(
            "client: give it a socket_timeout, such as socket_timeout=1, or a server that hangs keeps every request"
        )
    if any(getattr(client, name, None) for name in _OF_ONE_CONNECTION):
        raise ConfigurationError(
            "client: leave out single_connection_client=True: threads and forked processes would share the connection"
        )
    pool = getattr(client, "connection_pool", None)
    # The pools of Sentinel and of a cluster's nodes never wait for a free connection.
    if pool is not None and not hasattr(pool, "timeout") and not hasattr(pool, "sentinel_manager"):
        raise ConfigurationError(
            "client: give it a blocking pool, or it raises an error as soon as all its connections are in use: "
            "Redis.from_pool(BlockingConnectionPool.from_url(url, max_connections=50, timeout=1, socket_timeout=1))"
        )
    if type(replicas) is not int or replicas < 0:
        raise ConfigurationError("replicas: give how many replicas must have each claim, such as 1")
    if replicas and hasattr(client, "nodes_manager"):
        raise ConfigurationError("replicas: a cluster's client cannot wait for them; set min-replicas-to-write there")
    if replicas and not 0 < replica_timeout < timeout:
        raise ConfigurationError(
            "replica_timeout: give seconds greater than 0 and less than the client's socket_timeout"
        )
    return cast("Client", client)


@contextmanager
def named_exhaustion() -> Generator[None]:
    """Raise `NoConnection` in place of the client's error if its pool has no free connection."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "MaxConnectionsError" or str(error) in _EXHAUSTED:
            raise NoConnection(
                "no connection of the pool became free in time: raise its max_connections or timeout, or add workers"
            ) from error
        if _names_loop(error):
            raise NoConnection(
                "the asyncio client was used in another event loop before, and its connections belong to that one: "
                "make a client and a store for each event loop, or use one asyncio.run"
            ) from error
        raise


def _names_loop(error: BaseException | None) -> bool:
    """Return whether asyncio has rejected what belongs to another event loop."""
    while error is not None:
        if isinstance(error, RuntimeError) and "loop" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _connection_options(client: object) -> Mapping[str, object]:
    """Return the options of the client's connections: of one server, a synchronous cluster, an asynchronous cluster."""
    for holder in (getattr(client, "connection_pool", None), getattr(client, "nodes_manager", None), client):
        options = getattr(holder, "connection_kwargs", None)
        if options is not None:
            return cast("Mapping[str, object]", options)
    return {}

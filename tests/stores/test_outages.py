from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
import redis
from psycopg_pool import ConnectionPool
from redis.backoff import NoBackoff
from redis.retry import Retry
from tests.stores.servers import HOST, Postgres, Redis, Valkey, blocking_client
from tests.stores.traffic import Traffic

from undersigned import SqliteReplayStore
from undersigned_postgres import SCHEMA, PostgresReplayStore
from undersigned_redis import RedisReplayStore

if TYPE_CHECKING:
    from collections.abc import Callable

IMPATIENT = {"socket_timeout": 0.3, "socket_connect_timeout": 0.3}


def once() -> Retry:
    return Retry(NoBackoff(), 0)


class Wire(contextlib.AbstractContextManager):
    """A network before a server, which can be cut, or lose everything that is sent."""

    def __init__(self, target: int) -> None:
        self._target, self._lock, self._open, self._is_muted, self.port = target, threading.Lock(), [], False, 0
        self.mend()

    def mute(self) -> None:
        """Lose what is sent, and leave connections open."""
        self._is_muted = True

    def cut(self) -> None:
        """Close all connections, and reject new ones."""
        with self._lock:
            for one in self._open:
                close(one)
            self._open = []

    def mend(self) -> None:
        """Forward again; connections whose bytes were lost are closed."""
        self.cut()
        self._is_muted = False
        listener = socket.create_server((HOST, self.port))
        self.port, self._open = listener.getsockname()[1], [listener]
        threading.Thread(target=self._accept, args=(listener,)).start()

    def __exit__(self, *_) -> None:
        self.cut()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = listener.accept()[0]
                try:
                    far = socket.create_connection((HOST, self._target))
                except OSError:
                    near.close()
                    continue
                with self._lock:
                    self._open += (near, far)
                    is_cut = listener not in self._open
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=ends).start()
                if is_cut:
                    close(near)

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while received := source.recv(65536):
                if not self._is_muted:
                    sink.sendall(received)
        for end in (source, sink):
            close(end)


def close(end: socket.socket) -> None:
    """Close a connection that a thread may wait for."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@dataclass
class Rig:
    """A server of a test's own, the network before it, and a store that uses both."""

    server: object
    wire: Wire
    opened: Callable[[], contextlib.AbstractContextManager]


@contextlib.contextmanager
def redis_rig(kind):
    with kind() as server, Wire(server.port) as wire:

        @contextlib.contextmanager
        def opened():
            with blocking_client(redis.Redis, wire.port, retry=once(), **IMPATIENT) as client:
                yield RedisReplayStore(client)

        yield Rig(server, wire, opened)


@contextlib.contextmanager
def postgres_rig(*options: str, within=None):
    with Postgres(*options, within=within) as server, Wire(server.port) as wire:
        with psycopg.connect(server.conninfo()) as connection:
            connection.execute(SCHEMA)

        @contextlib.contextmanager
        def opened():
            with ConnectionPool(server.conninfo(wire.port), min_size=2, max_size=4) as pool:
                yield PostgresReplayStore(pool, timeout=0.5)

        yield Rig(server, wire, opened)


RIGS = {"redis": lambda: redis_rig(Redis), "valkey": lambda: redis_rig(Valkey), "postgres": postgres_rig}
OUTAGES = {
    "killed": lambda rig: (rig.server.kill, rig.server.start),
    "paused": lambda rig: (rig.server.pause, rig.server.resume),
    "cut": lambda rig: (rig.wire.cut, rig.wire.mend),
    "muted": lambda rig: (rig.wire.mute, rig.wire.mend),
}


def survive(rig: Rig, *outages: tuple[Callable[[], None], Callable[[], None]]) -> None:
    """Break and repair the store while requests and replays come in."""
    with rig.opened() as store, Traffic(store) as traffic:
        for breaks, repairs in outages:
            traffic.flows()
            breaks()
            traffic.fails()
            repairs()
        traffic.flows()
    with rig.opened() as store:
        traffic.check(store)


@pytest.mark.parametrize("outage", OUTAGES)
@pytest.mark.parametrize("name", RIGS)
def test_store_that_fails_admits_nothing_and_recovers(name, outage):
    with RIGS[name]() as rig:
        survive(rig, *[OUTAGES[outage](rig)] * 2)


@pytest.mark.parametrize("kind", [Redis, Valkey])
def test_full_server_of_redis_admits_nothing_and_recovers(kind):
    with redis_rig(kind) as rig, rig.server.client() as admin:
        survive(rig, (lambda: admin.config_set("maxmemory", "1kb"), lambda: admin.config_set("maxmemory", "0")))


@pytest.fixture
def small_disk():
    """A file system of 128 MiB that any user may write to."""
    folder = Path(tempfile.mkdtemp(prefix="undersigned-disk-"))
    folder.chmod(0o755)
    subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "size=128m,mode=0777", "tmpfs", folder], check=True)  # noqa: S603
    yield folder
    subprocess.run(["/bin/umount", "--lazy", folder], check=True)  # noqa: S603
    folder.rmdir()


def survive_a_full_disk(rig: Rig, disk: Path) -> None:
    """As `survive`; what still finds room is claimed and accepted."""
    with rig.opened() as store, Traffic(store) as traffic:
        for _ in range(2):
            traffic.flows()
            with contextlib.suppress(OSError), (disk / "filling").open("wb", buffering=0) as filling:
                while True:
                    filling.write(b"\0" * 4096)
            traffic.is_unavailable()
            (disk / "filling").unlink()
        traffic.flows()
    with rig.opened() as store:
        traffic.check(store)


def test_full_disk_of_postgres_admits_no_replay_and_recovers(small_disk):
    with postgres_rig(within=small_disk) as rig:
        survive_a_full_disk(rig, small_disk)


@pytest.mark.parametrize("survives_power_loss", [True, False])
def test_full_disk_of_sqlite_admits_no_replay_and_recovers(small_disk, survives_power_loss):
    path = small_disk / "replay.sqlite"
    opened = partial(SqliteReplayStore, path, timeout=1, survives_power_loss=survives_power_loss)
    survive_a_full_disk(Rig(None, None, opened), small_disk)

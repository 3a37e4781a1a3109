"""Servers with worker processes, started as an operator starts them, and one request sent to them many times."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.wire import exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def free_port() -> int:
    """Return a port that the kernel gives to nobody else while this process runs.

    A socket that does not listen keeps it. A server that asks for the port by its number gets it all the same.
    """
    bound = socket.socket()
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        bound.setsockopt(socket.SOL_SOCKET, option, 1)
    bound.bind(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    bound.detach()
    return port


@contextlib.contextmanager
def workers(module: str, *arguments: str, port: int, log: Path, count: int = 1, **environment: str) -> Iterator[None]:
    """Run a server, `python -m module arguments`, until `count` processes of it listen; its log is in a file.

    uWSGI is a program.
    """
    command = [f"{sys.prefix}/bin/uwsgi"] if module == "uwsgi" else [sys.executable, "-m", module]

    def ready(process: subprocess.Popen) -> bool:
        return answers(port) and _children(process.pid) >= count

    with started([*command, *arguments], ready, log=log, env={**os.environ, **environment}):
        yield


@contextlib.contextmanager
def started(
    command: Sequence[str], ready: Callable[[subprocess.Popen], object], *, log: Path, **options
) -> Iterator[subprocess.Popen]:
    """Run a process, with its output in a file, from when it is ready until the end of the block; yields it."""
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True, **options)  # noqa: S603 - ours
    try:
        wait_until(lambda: ready(process), log=log, process=process)
        yield process
    finally:
        process.terminate()
        # On a busy machine, granian and uWSGI with several workers may never end by themselves.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(
    condition: Callable[[], object],
    *,
    log: Path | None = None,
    process: subprocess.Popen | None = None,
    seconds: float = 60,
) -> None:
    """Return as soon as a condition is true. A process must not end before, nor may it take so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        is_over = time.monotonic() > deadline or (process is not None and process.poll() is not None)
        assert not is_over, log.read_text() if log else f"{condition} is not true"
        time.sleep(0.02)


def answers(port: int) -> bool:
    """Whether a server accepts connections. A list of the ports in use would name those of clients too."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _children(process: int) -> int:
    return len(Path(f"/proc/{process}/task/{process}/children").read_text().split())


def statuses(port: int, raw: bytes, count: int, *, at_once: int = 8) -> Counter[int]:
    """How often each status was answered to the same request."""
    with ThreadPoolExecutor(at_once) as pool:
        return Counter(pool.map(lambda _: int(exchange(port, raw)[9:12]), range(count)))

"""`python -m tests.soak [--minutes M] [NAME...]`: do memory, descriptors, threads and latency stay as they are?

Every worker model of uvicorn and gunicorn gets honest, broken, slow and aborted requests for its share of the time.
What its processes hold is read from /proc after a fifth of the load and after all of it, when no client is left.
The exit code is 1 if a server holds more at the end than is allowed, or answers an honest request with an error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from tests.soak.load import Load
from tests.workers import free_port, workers

ROOT: Final = Path(__file__).parents[2]
_UVICORN: Final = ("tests.soak.app:asgi_app", "--log-level", "critical", "--no-access-log", "--port", "{port}")
_GUNICORN: Final = ("--log-level", "critical", "--no-control-socket", "--bind", "127.0.0.1:{port}", "-k")
SERVERS: Final[dict[str, tuple[str, ...]]] = {
    "uvicorn-h11": ("uvicorn", *_UVICORN, "--http", "h11", "--loop", "asyncio"),
    "uvicorn-httptools-uvloop": ("uvicorn", *_UVICORN, "--http", "httptools", "--loop", "uvloop"),
    "uvicorn-2-workers": ("uvicorn", *_UVICORN, "--workers", "2"),
    "gunicorn-sync": ("gunicorn", *_GUNICORN, "sync", "-w", "2", "--timeout", "5", "tests.soak.app:wsgi_app"),
    "gunicorn-gthread": ("gunicorn", *_GUNICORN, "gthread", "--threads", "4", "tests.soak.app:wsgi_app"),
    "gunicorn-gevent": ("gunicorn", *_GUNICORN, "gevent", "tests.soak.app:wsgi_app"),
    "gunicorn-uvicorn": ("gunicorn", *_GUNICORN, "uvicorn_worker.UvicornWorker", "tests.soak.app:asgi_app"),
    "gunicorn-asgi": ("gunicorn", *_GUNICORN, "asgi", "tests.soak.app:asgi_app"),
}
_MOST_MORE_MEMORY, _MOST_MORE_THREADS, _MOST_SLOWER = 1.15, 4, 2.0
_SETTLE = 3


class Held(NamedTuple):
    """What the processes of a server hold: kilobytes of memory, file descriptors, threads."""

    memory: int
    descriptors: int
    threads: int

    @classmethod
    def by(cls, pids: list[int]) -> Held:
        """Read /proc."""
        status = [Path(f"/proc/{pid}/status").read_text("ascii") for pid in pids]

        def total(name: str) -> int:
            return sum(int(text.partition(f"\n{name}:")[2].split(maxsplit=1)[0]) for text in status)

        descriptors = sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids)
        return cls(total("VmRSS"), descriptors, total("Threads"))


class Soaked(NamedTuple):
    """One server before and after."""

    name: str
    before: Held
    after: Held
    latencies: tuple[float, float]
    answers: dict[str, dict[int, int]]

    @property
    def faults(self) -> list[str]:
        """What grew, or was answered, as it must not."""
        before, after = self.before, self.after
        checks = {
            "memory": after.memory <= before.memory * _MOST_MORE_MEMORY,
            "descriptors": after.descriptors <= before.descriptors,
            "threads": after.threads <= before.threads + _MOST_MORE_THREADS,
            "latency": self.latencies[1] <= self.latencies[0] * _MOST_SLOWER,
            "honest requests": set(self.answers["honest"]) == {200},
            "broken requests": not {200, 500} & set(self.answers["broken"]),
        }
        return [name for name, holds in checks.items() if not holds]

    def __str__(self) -> str:
        memory, descriptors, threads = (f"{was} to {now}" for was, now in zip(self.before, self.after, strict=True))
        latency = " to ".join(f"{1000 * seconds:.1f}" for seconds in self.latencies)
        verdict = f"GREW: {', '.join(self.faults)}" if self.faults else "ok"
        return (
            f"{self.name}: {memory} KB, {descriptors} descriptors, {threads} threads, {latency} ms, "
            f"{self.answers}, {verdict}"
        )


def soak(name: str, seconds: float, directory: Path) -> Soaked:
    """Put a server under load for so many seconds."""
    port = free_port()
    module, *arguments = (part.format(port=port) for part in SERVERS[name])
    environment = {"SOAK_STORE": str(directory / f"{name}.sqlite")}
    with workers(module, *arguments, port=port, log=directory / f"{name}.log", count=0, **environment):
        load = Load(port)
        load.run(_SETTLE)
        latencies, held = [], []
        for share in (0.2, 0.8):
            latencies.append(load.run(seconds * share))
            time.sleep(_SETTLE)
            held.append(Held.by(_processes(environment["SOAK_STORE"])))
    return Soaked(name, *held, tuple(latencies), {kind: dict(counted) for kind, counted in load.answers.items()})


def _processes(store: str) -> list[int]:
    """Return the processes of the server, which all have the path of its store in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if store.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def main() -> int:
    """Soak the servers one after the other, and print what each held."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(SERVERS)}; all unless given")
    parser.add_argument(
        "--minutes", type=float, default=10, metavar="M", help="how long the load lasts, for all servers"
    )
    given = parser.parse_args()
    names = given.names or list(SERVERS)
    failed = False
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            soaked = soak(name, 60 * given.minutes / len(names), Path(directory))
            failed |= bool(soaked.faults)
            print(soaked, flush=True)  # noqa: T201 - the output
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

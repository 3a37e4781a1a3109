"""`python -m tests.soak [--minutes M] [NAME...]`: do memory, descriptors, threads and latency stay as they are?

Every worker model of uvicorn and gunicorn gets honest, broken, slow and aborted requests for its share of the time.
What its processes hold is read from /proc after a fifth of the load and after all of it, when no client is left.
The exit code is 1 if a server holds more at the end than is allowed, or answers an honest request with an error.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

from tests.keys import BODY, ORIGINS, Party
from tests.wire import exchange
from tests.workers import free_port, workers

from undersigned import KeySet, SqliteReplayStore, Verifier, asgi, profiles, wsgi

_UVICORN: Final = ("tests.soak:asgi_app", "--factory", "--log-level", "critical", "--no-access-log", "--port", "{port}")
_GUNICORN: Final = ("--log-level", "critical", "--no-control-socket", "--bind", "127.0.0.1:{port}", "-k")
_WSGI, _ASGI = "tests.soak:wsgi_app()", "tests.soak:asgi_app()"
SERVERS: Final[dict[str, tuple[str, ...]]] = {
    "uvicorn-h11": ("uvicorn", *_UVICORN, "--http", "h11", "--loop", "asyncio"),
    "uvicorn-httptools-uvloop": ("uvicorn", *_UVICORN, "--http", "httptools", "--loop", "uvloop"),
    "uvicorn-2-workers": ("uvicorn", *_UVICORN, "--workers", "2"),
    "gunicorn-sync": ("gunicorn", *_GUNICORN, "sync", "-w", "2", "--timeout", "5", _WSGI),
    "gunicorn-gthread": ("gunicorn", *_GUNICORN, "gthread", "--threads", "4", _WSGI),
    "gunicorn-gevent": ("gunicorn", *_GUNICORN, "gevent", _WSGI),
    "gunicorn-uvicorn": ("gunicorn", *_GUNICORN, "uvicorn_worker.UvicornWorker", _ASGI),
    "gunicorn-asgi": ("gunicorn", *_GUNICORN, "asgi", _ASGI),
}
_SETTLE, _PAUSE, _DRIP = 3, 0.01, 0.05


def _verifier() -> Verifier:
    store = SqliteReplayStore(os.environ["SOAK_STORE"])
    return Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(Party.make().jwks), replay=store)


def wsgi_app():
    """A WSGI application that answers with the verified body."""

    def application(environ, start_response) -> list[bytes]:
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start_response("200 OK", [("Content-Length", str(len(content)))])
        return [content]

    return wsgi.SignatureMiddleware(application, verifier=_verifier(), origins=ORIGINS)


def asgi_app():
    """An ASGI application that answers with the verified body."""

    async def application(_scope, receive, send) -> None:
        body = (await receive())["body"]
        length = str(len(body)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": body})

    return asgi.SignatureMiddleware(application, verifier=_verifier(), origins=ORIGINS, body_timeout=2)


class Load:
    """Mixed requests to a server, each kind from a thread of its own.

    Attributes:
        answers: how often an honest and a broken request got each status.
    """

    def __init__(self, port: int) -> None:
        self.answers = {"honest": Counter(), "broken": Counter()}
        self._port, self._agreement = port, Party.make()
        self._over = threading.Event()
        self._latencies: list[float] = []

    def run(self, seconds: float) -> float:
        """Send for so long, wait for every client, and return the median latency of the honest requests."""
        self._latencies.clear()
        self._over.clear()
        kinds = (self._honest, self._broken, self._slow, self._abort)
        clients = [threading.Thread(target=self._repeat, args=(kind,)) for kind in kinds]
        for client in clients:
            client.start()
        self._over.wait(seconds)
        self._over.set()
        for client in clients:
            client.join()
        return statistics.median(self._latencies)

    def _repeat(self, kind) -> None:
        for turn in itertools.count():
            if self._over.wait(_PAUSE):
                return
            # A server may reset a connection that has content it does not read.
            with contextlib.suppress(OSError):
                kind(turn, self._agreement.raw("POST", "/plans", BODY))

    def _honest(self, _turn: int, raw: bytes) -> None:
        begun = time.perf_counter()
        self._count("honest", exchange(self._port, raw))
        self._latencies.append(time.perf_counter() - begun)

    def _broken(self, turn: int, raw: bytes) -> None:
        changes = (
            (BODY, BODY.swapcase()),
            (b"POST ", b"PUT "),
            (b"/plans", b"/plans/../%"),
            (b'sig1=("@method"', b'sig1=("@method";bs'),
            (b"Host: ", b"Host: other."),
            (b"Signature: ", b"X: "),
        )
        self._count("broken", exchange(self._port, raw.replace(*changes[turn % len(changes)])))

    def _slow(self, turn: int, raw: bytes) -> None:
        with socket.create_connection(("127.0.0.1", self._port), timeout=10) as connection:
            # Half of them stop in the head, half in the content.
            connection.sendall(raw[:20] if turn % 2 else raw[:-10])
            for octet in raw[20:24] if turn % 2 else raw[-10:-6]:
                time.sleep(_DRIP)
                connection.sendall(bytes([octet]))

    def _abort(self, turn: int, raw: bytes) -> None:
        with socket.create_connection(("127.0.0.1", self._port), timeout=10) as connection:
            connection.sendall(raw[: len(raw) * (turn % 5) // 4])

    def _count(self, kind: str, answer: bytes) -> None:
        self.answers[kind][int(answer.split(b" ", 2)[1]) if answer else 0] += 1


class Held(NamedTuple):
    """What the processes of a server hold: kilobytes of memory, file descriptors, threads."""

    memory: int
    descriptors: int
    threads: int

    @classmethod
    def by(cls, store: str) -> Held:
        """Read /proc for the processes of the server, which all have the path of its store in their environment."""
        memory = descriptors = threads = 0
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if store.encode() in (path / "environ").read_bytes():
                    status = dict(line.split(":", 1) for line in (path / "status").read_text("ascii").splitlines())
                    memory += int(status["VmRSS"].split()[0])
                    threads += int(status["Threads"])
                    descriptors += len(list((path / "fd").iterdir()))
        return cls(memory, descriptors, threads)


def soak(name: str, seconds: float, directory: Path) -> bool:
    """Put a server under load for so many seconds; print what it held, and return whether nothing grew."""
    port, store = free_port(), str(directory / f"{name}.sqlite")
    module, *arguments = (part.format(port=port) for part in SERVERS[name])
    with workers(module, *arguments, port=port, log=directory / f"{name}.log", count=0, SOAK_STORE=store):
        load = Load(port)
        load.run(_SETTLE)
        latencies, held = [], []
        for share in (0.2, 0.8):
            latencies.append(load.run(seconds * share))
            time.sleep(_SETTLE)
            held.append(Held.by(store))
    before, after = held
    checks = {
        "memory": after.memory <= before.memory * 1.15,
        "descriptors": after.descriptors <= before.descriptors,
        "threads": after.threads <= before.threads + 4,
        "latency": latencies[1] <= latencies[0] * 2,
        "honest requests": set(load.answers["honest"]) == {200},
        "broken requests": not {200, 500} & set(load.answers["broken"]),
    }
    faults = [check for check, holds in checks.items() if not holds]
    spent = " to ".join(f"{1000 * latency:.1f}" for latency in latencies)
    answers = {kind: dict(counted) for kind, counted in load.answers.items()}
    verdict = f"GREW: {', '.join(faults)}" if faults else "ok"
    print(name, *before, "to", *after, f"{spent} ms", answers, verdict, flush=True)  # noqa: T201 - the output
    return not faults


def main() -> int:
    """Soak the servers one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(SERVERS)}; all unless given")
    parser.add_argument("--minutes", type=float, default=10, metavar="M", help="how long the load lasts, in all")
    given = parser.parse_args()
    names = given.names or [*SERVERS]
    with tempfile.TemporaryDirectory() as directory:
        held = [soak(name, 60 * given.minutes / len(names), Path(directory)) for name in names]
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())

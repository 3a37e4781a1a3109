"""`python -m tests.stores.throughput [--seconds S] [--rounds N]`: how much of a bare application's throughput is left.

Two workers of uvicorn run FastAPI bare, and with all that operation needs: keys and a revocation list of a server with
TLS, metrics, and nonces in memory or in Redis. `wrk` sends each of them signed requests with 1 KiB of JSON over 1, 8
and 64 connections, in turns. Print, as ratios to the bare application: requests a second, and the processor time of
the workers for a request.

With `--strangers`, honest clients send over 16 connections instead, alone and then beside 500 connections of strangers.
Print the share of their rate that the honest keep, and the share that their processor time is worth: what is left if
each connection gets its turn, and a stranger's request takes as long as it does alone. An answer to the honest that is
not 200 is an error.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fastapi import FastAPI
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from redis.asyncio import BlockingConnectionPool, Redis
from tests.benchmarks.traffic import BODY, FIELDS, unsigned
from tests.certificate import certificate
from tests.discovery.key_server import HOSTS, KeyServer, network_of, response
from tests.discovery.test_revocation_sources import ISSUER, PINNED
from tests.discovery.test_revocation_sources import sign as sign_list
from tests.keys import JWKS, KEY, ORIGIN, URL
from tests.stores.capacity import descendants, processor_time
from tests.stores.servers import Redis as Server
from tests.workers import free_port, workers

from undersigned import AsyncVerifier, KeyPair, MemoryReplayStore, Signer, SigningKey, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned.discovery import KeySources, RemoteJWKS, RemoteRevocationList
from undersigned_opentelemetry import Telemetry
from undersigned_redis import AsyncRedisReplayStore

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

_WRK = shutil.which("wrk")
_CONNECTIONS = (1, 8, 64)
_HONEST, _STRANGERS = 16, 500
_BARE = "bare"
_SUBJECTS = ("memory", "redis")
_TARGET = URL.removeprefix(ORIGIN)
_MOST_A_SECOND = 9000
"""Signed requests for each second of a run: more than it can send."""
_SEND = """
local requests, at = {}, 0
function init(arguments)
    for request in io.open(arguments[1], "rb"):read("*a"):gmatch("[^%z]+") do requests[#requests + 1] = request end
end
function request()
    at = at % #requests + 1
    return requests[at]
end
"""


class Taken(NamedTuple):
    """What runs have measured: requests a second, and seconds of a core for one."""

    rate: float
    core: float

    @classmethod
    def median(cls, runs: Sequence[Taken]) -> Taken:
        return cls(*map(statistics.median, zip(*runs, strict=True)))


def app() -> FastAPI:
    """The application of the subject that the environment names."""
    service = FastAPI()

    @service.post(_TARGET)
    async def buy(order: dict[str, object]) -> dict[str, object]:
        return {"buyer_ref": order["buyer_ref"]}

    subject = os.environ["SUBJECT"]
    if subject == _BARE:
        return service
    telemetry = Telemetry(meter_provider=MeterProvider(metric_readers=[InMemoryMetricReader()]))
    network, url = network_of(Path(os.environ["CA"])), os.environ["KEYS"]
    verifier = AsyncVerifier(
        profiles.ADCP_3_2,
        keys=KeySources({"buyer": RemoteJWKS(f"{url}/keys", network=network)}),
        revocations=RemoteRevocationList(f"{url}/list", issuer=ISSUER, keys=PINNED, network=network),
        replay=telemetry.async_replay_store(MemoryReplayStore() if subject == "memory" else _redis()),
    )
    service.add_middleware(SignatureMiddleware, verifier=verifier, origins=[ORIGIN], on_decision=telemetry.on_decision)
    return service


def _redis() -> AsyncRedisReplayStore:
    options = {"max_connections": 50, "timeout": 5, "socket_timeout": 5}
    return AsyncRedisReplayStore(Redis.from_pool(BlockingConnectionPool.from_url(os.environ["REPLAY"], **options)))


@contextmanager
def _environment_of(folder: Path) -> Generator[dict[str, str]]:
    """Run what the subjects need. Yield where it is."""
    pem = certificate(folder / "server.pem", *HOSTS)
    server = KeyServer(pem)
    server.answers |= {"/keys": response(JWKS), "/list": response(sign_list(updated=int(time.time()), interval=1800))}
    try:
        with Server() as store:
            yield {"CA": str(pem), "KEYS": server.url(""), "REPLAY": f"redis://127.0.0.1:{store.port}"}
    finally:
        server.close()


class _Subject:
    """A running subject: the port that it listens on, and its processes."""

    def __init__(self, name: str, port: int, processes: set[int]) -> None:
        self.name, self.port = name, port
        self._processes = processes

    def run(self, folder: Path, connections: int, seconds: int) -> Taken:
        """Send requests for some seconds, each of them once."""
        _sign(_MOST_A_SECOND * seconds, folder / "requests")
        before = processor_time(self._processes)
        count, rate = _send(folder / "requests", self.port, connections, seconds)
        return Taken(rate, (processor_time(self._processes) - before) / count)


@contextmanager
def _started(name: str, folder: Path, environment: dict[str, str]) -> Generator[_Subject]:
    """Run the workers of a subject."""
    port, before = free_port(), descendants(os.getpid())
    arguments = ("--factory", "tests.stores.throughput:app", "--workers", "2", "--port", str(port), "--no-access-log")
    with workers("uvicorn", *arguments, port=port, log=folder / name, count=3, SUBJECT=name, **environment):
        yield _Subject(name, port, descendants(os.getpid()) - before)


def _send(requests: Path, port: int, connections: int, seconds: int, *, accepted: bool = True) -> tuple[int, float]:
    """Send the requests of a file in a closed loop. Return how many were answered, and how many in a second."""
    (script := requests.with_suffix(".lua")).write_text(_SEND)
    options = ["-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s", str(script)]
    told = subprocess.run(  # noqa: S603 - our own words
        [str(_WRK), *options, f"http://127.0.0.1:{port}", "--", str(requests)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert ("Non-2xx" in told) is not accepted, told
    assert "Socket errors" not in told, told
    [count], [rate] = re.findall(r"(\d+) requests in", told), re.findall(r"Requests/sec:\s+([\d.]+)", told)
    return int(count), float(rate)


def _sign(count: int, file: Path, key: SigningKey = KEY) -> None:
    """Write signed requests. `wrk` splits the file at NUL."""
    signer, request = Signer(key, profile=profiles.ADCP_3_2), unsigned()
    with file.open("wb") as written:
        for _ in range(count):
            lines = [f"{name}: {value}\r\n" for name, value in [*FIELDS, *signer.sign(request)]]
            written.write(f"POST {_TARGET} HTTP/1.1\r\n{''.join(lines)}\r\n".encode() + BODY + b"\0")


def _flood(subject: _Subject, folder: Path, seconds: int) -> None:
    """Measure the honest alone, each kind of stranger alone, and then both."""
    strangers = {
        "invalid signatures": KeyPair.generate(keyid=KEY.keyid).signing_key(),
        "unknown keyids": KeyPair.generate(keyid="stranger").signing_key(),
    }
    honest, strange = folder / "honest", folder / "strange"
    for _ in range(2):  # the first run fetches, connects and fills caches
        _sign(_MOST_A_SECOND * seconds, honest)
        _, alone = _send(honest, subject.port, _HONEST, seconds)
    for what, key in strangers.items():
        _sign(1000, strange, key)
        _, rate = _send(strange, subject.port, _STRANGERS, seconds, accepted=False)
        _sign(_MOST_A_SECOND * seconds, honest)
        with ThreadPoolExecutor(1) as pool:
            flood = pool.submit(_send, strange, subject.port, _STRANGERS, seconds + 4, accepted=False)
            _, beside = _send(honest, subject.port, _HONEST, seconds)
            flood.result()
        shares = beside / alone, (_HONEST / alone) / (_HONEST / alone + _STRANGERS / rate)
        told = "{}, {}: the honest keep {:.3f} of their rate, a fair share is {:.3f}"
        print(told.format(subject.name, what, *shares), flush=True)  # noqa: T201


def main() -> int:
    """Measure the subjects in turns with the bare application, or each of them beside strangers."""
    parser = argparse.ArgumentParser(prog="python -m tests.stores.throughput", description=__doc__)
    parser.add_argument("--seconds", type=int, default=3, metavar="S", help="how long each run lasts")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how many runs each subject gets")
    parser.add_argument("--strangers", action="store_true", help="measure what strangers leave to the honest")
    given = parser.parse_args()
    if _WRK is None:
        parser.error("wrk sends the requests: apt-get install wrk")
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        environment = opened.enter_context(_environment_of(folder))
        if given.strangers:
            for name in _SUBJECTS:
                with _started(name, folder, environment) as subject:
                    _flood(subject, folder, given.seconds)
            return 0
        subjects = [opened.enter_context(_started(name, folder, environment)) for name in (_BARE, *_SUBJECTS)]
        for connections in _CONNECTIONS:
            turns = [
                [subject.run(folder, connections, given.seconds) for subject in subjects]
                for _ in range(given.rounds + 1)
            ][1:]  # the first turn fetches, connects and fills caches
            bare, *others = [Taken.median(runs) for runs in zip(*turns, strict=True)]
            print(f"{connections} connections, {_BARE}: {bare.rate:.0f}/s, {1000 * bare.core:.3f} ms of a core")  # noqa: T201
            for subject, taken in zip(subjects[1:], others, strict=True):
                shares = taken.rate / bare.rate, taken.core / bare.core
                print("  {}: {:.2f} of its rate, {:.2f} of its processor time".format(subject.name, *shares))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())

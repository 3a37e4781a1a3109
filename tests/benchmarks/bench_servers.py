"""Real servers with and without the middleware, and beside the helpers of peers, under the load of wrk.

The same pre-signed requests go to each side in turn. The application does nothing, which is the worst case.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from tests.benchmarks.bench_middleware import ORIGINS, application
from tests.benchmarks.bench_peers import installed
from tests.benchmarks.load import Measured, has_wrk, load, write_requests
from tests.benchmarks.row import Row
from tests.benchmarks.served import Served, gunicorn_workers, uvicorn_workers
from tests.benchmarks.traffic import Handmade, signed_by_hand
from tests.keys import KEYS, URL

from undersigned import MemoryReplayStore, Verifier, asgi, profiles, wsgi

Serving: TypeAlias = Callable[[object, int], AbstractContextManager[Served]]
Signing: TypeAlias = Callable[[int], Handmade]

COUNT, QUICK_COUNT = 20_000, 100
"""The requests that are signed. As all are sent once, a fast server answers for less than the seconds."""
_SECONDS = 4
_PATH = urlsplit(URL).path


@dataclass(frozen=True, slots=True)
class Side:
    """An application that is served.

    Attributes:
        name: what the rows call it.
        app: makes the application.
        signed: makes a request, signed at a time.
    """

    name: str
    app: Callable[[], object]
    signed: Signing


@dataclass(frozen=True, slots=True)
class Answered:
    """How a side did.

    Attributes:
        measured: its rate and latency.
        processor_time: the microseconds of its workers for a request.
    """

    measured: Measured
    processor_time: float


def rows(*, quick: bool) -> list[Row]:
    """Measure both servers with one worker and with two; only one worker if it has to be quick."""
    if not has_wrk():
        return []
    count = QUICK_COUNT if quick else COUNT
    found: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="undersigned-bench-") as folder:
        for server, serving, sides in (
            ("uvicorn", uvicorn_workers, _sides("asgi")),
            ("gunicorn", gunicorn_workers, _sides("wsgi")),
        ):
            for workers in (1,) if quick else (1, 2):
                answered = {
                    side.name: answer(serving, side, workers=workers, count=count, folder=Path(folder))
                    for side in sides
                }
                found += _compared(f"{server}, {_counted(workers)}", answered)
    return found


def _sides(interface: str) -> list[Side]:
    bare = application if interface == "asgi" else bare_wsgi
    ours = {"asgi": asgi_verifying, "wsgi": wsgi_verifying}[interface]
    sides = [Side("bare", lambda: bare, signed_for_us), Side("undersigned", ours, signed_for_us)]
    for peer in installed():
        verifying = getattr(peer, f"{interface}_application")
        signed = getattr(peer, "signed", signed_for_us)
        sides.append(Side(peer.NAME, lambda verifying=verifying: verifying(bare), signed))
    return sides


def asgi_verifying() -> asgi.SignatureMiddleware:
    """The bare ASGI application under the middleware, with a store in process."""
    return asgi.SignatureMiddleware(application, verifier=_verifier(), origins=ORIGINS)


def wsgi_verifying(store=None) -> wsgi.SignatureMiddleware:
    """The bare WSGI application under the middleware, with a store in process unless one is given."""
    return wsgi.SignatureMiddleware(bare_wsgi, verifier=_verifier(store), origins=ORIGINS)


def _verifier(store=None) -> Verifier:
    return Verifier(profiles.ADCP_3_2, keys=KEYS, replay=store or MemoryReplayStore())


def bare_wsgi(environ, start_response) -> list[bytes]:
    """Read the body and answer 200: the least an application does."""
    environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    start_response("200 OK", [("Content-Length", "0")])
    return [b""]


def signed_for_us(now: int) -> Handmade:
    """Sign the request as a sender of AdCP 3.2."""
    return signed_by_hand(URL, now=now)


def answer(serving: Serving, side: Side, *, workers: int, count: int, folder: Path) -> Answered:
    """Serve an application and return how it answered a load."""
    warming, requests = write_signed(folder, side.signed, count)
    with serving(side.app(), workers) as served:
        return put_under_load(served, warming, requests, connections=8 * workers)


def write_signed(folder: Path, signed: Signing, count: int) -> tuple[Path, Path]:
    """Write requests that warm a server, and requests that measure it."""
    warming, requests = folder / "warming", folder / "requests"
    now = int(time.time())
    for path, number in ((warming, count // 10), (requests, count)):
        write_requests(path, ((_PATH, signed(now).fields) for _ in range(number)))
    return warming, requests


def put_under_load(served: Served, warming: Path, requests: Path, *, connections: int) -> Answered:
    """Warm a server, then measure how it answers."""
    # A worker may import something when it answers for the first time.
    load(served.port, warming, connections=connections, seconds=_SECONDS)
    before = served.processor_time()
    measured = load(served.port, requests, connections=connections, seconds=_SECONDS)
    spent = served.processor_time() - before
    return Answered(measured, spent * 1e6 / measured.requests)


def _compared(served: str, answered: dict[str, Answered]) -> list[Row]:
    found = []
    for name, side in answered.items():
        what = f"{served}, {name}"
        found += [
            Row(f"{what}: requests a second", "", side.measured.rate, None, "per s", more_is_better=True),
            Row(f"{what}: half of the requests take", "", side.measured.p50, None, "us"),
            Row(f"{what}: 99 % of the requests take", "", side.measured.p99, None, "us"),
            Row(f"{what}: processor time of a request", "", side.processor_time, None, "us"),
        ]
    ours, bare = answered["undersigned"], answered["bare"]
    found += [
        Row(f"{served}: p99", "p50", ours.measured.p99 / ours.measured.p50, 2.0),
        Row(f"{served}: requests a second", "without the middleware", ours.measured.rate / bare.measured.rate),
        Row(f"{served}: processor time of a request", "", ours.processor_time - bare.processor_time, None, "us more"),
    ]
    for name, peer in answered.items():
        if peer in (ours, bare):
            continue
        rate = ours.measured.rate / peer.measured.rate
        found.append(Row(f"{served}: requests a second", name, rate, _GOALS.get(name), more_is_better=True))
    return found


_GOALS: Final = {"adcp": 1.5}


def _counted(workers: int) -> str:
    return "1 worker" if workers == 1 else f"{workers} workers"

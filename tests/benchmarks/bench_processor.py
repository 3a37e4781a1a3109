"""Whose processor time a request takes that uvicorn or gunicorn answers with the middleware."""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.benchmarks import sampling
from tests.benchmarks.bench_servers import asgi_verifying, wsgi_verifying
from tests.benchmarks.load import has_wrk
from tests.benchmarks.row import Row
from tests.benchmarks.served import gunicorn_workers, uvicorn_workers
from tests.benchmarks.sides import QUICK, Side, Size, answer_under_load

if TYPE_CHECKING:
    from tests.benchmarks.sampling import Function

_GOALS: Final = {"undersigned": 0.20}
OWNERS: Final = ("signature check", "undersigned", "json", "server")
ROOMS: Final = ("message", "signature", "verification", "middleware", "asgi", "wsgi", "url", "replay")
SERVERS: Final = {"uvicorn": (uvicorn_workers, asgi_verifying), "gunicorn": (gunicorn_workers, wsgi_verifying)}


def rows(*, quick: bool) -> list[Row]:
    """Measure the shares of all owners, and of the rooms of this library, on each server."""
    if not has_wrk():
        return []
    return [row for server in SERVERS for row in _shares(server, sampled(server, QUICK if quick else Size()))]


def _shares(server: str, seen: Counter[Function]) -> list[Row]:
    counts = Counter[str]()
    for function, count in seen.items():
        counts[function.owner] += count
        if function.owner == "undersigned":
            counts[f"undersigned.{function.room}"] += count
    return [
        Row(f"{server}: share of {name}", "processor time of a request", counts[name] / seen.total(), _GOALS.get(name))
        for name in (*OWNERS, *(f"undersigned.{room}" for room in ROOMS))
    ]


def sampled(server: str, size: Size) -> Counter[Function]:
    """Return how often each function ran in a worker of a server under load."""
    workers, verifying = SERVERS[server]
    with tempfile.TemporaryDirectory(prefix="undersigned-bench-") as name:
        samples = Path(name) / "samples"
        answer_under_load([Side("undersigned", partial(workers, verifying(), 1, samples=samples), 1)], size, Path(name))
        return sampling.read(samples)

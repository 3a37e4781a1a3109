"""Whose processor time a request takes that uvicorn answers with the middleware."""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import sampling
from tests.benchmarks.bench_servers import asgi_verifying
from tests.benchmarks.load import has_wrk
from tests.benchmarks.row import Row
from tests.benchmarks.served import uvicorn_workers
from tests.benchmarks.sides import QUICK, Side, Size, answered

if TYPE_CHECKING:
    from tests.benchmarks.sampling import Function

_GOALS = {"undersigned": 0.20}
ROOMS = ("message", "signature", "verification", "middleware", "asgi", "url", "replay")


def rows(*, quick: bool) -> list[Row]:
    """Measure the shares of all owners, and of the rooms of this library."""
    if not has_wrk():
        return []
    seen = sampled(QUICK if quick else Size())
    owners, rooms = Counter[str](), Counter[str]()
    for function, count in seen.items():
        owners[function.owner] += count
        if function.owner == "undersigned":
            rooms[function.room] += count
    whole = "processor time of a request"
    return [
        *(
            Row(f"share of {owner}", whole, owners[owner] / seen.total(), _GOALS.get(owner))
            for owner in ("signature check", "undersigned", "json", "server")
        ),
        *(Row(f"share of undersigned.{room}", whole, rooms[room] / seen.total()) for room in ROOMS),
    ]


def sampled(size: Size) -> Counter[Function]:
    """Return how often each function ran in a worker under load."""
    with tempfile.TemporaryDirectory(prefix="undersigned-bench-") as name:
        samples = Path(name) / "samples"
        serving = partial(uvicorn_workers, asgi_verifying(), 1, samples=samples)
        answered([Side("undersigned", serving, 1)], size, Path(name))
        return sampling.read(samples)

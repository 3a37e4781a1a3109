"""Whose processor time a request takes that uvicorn answers with the middleware."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import bench_servers, sampling
from tests.benchmarks.load import has_wrk
from tests.benchmarks.row import Row
from tests.benchmarks.served import uvicorn_workers

if TYPE_CHECKING:
    from tests.benchmarks.sampling import Function

_GOALS = {"undersigned": 0.20}
_ROOMS = ("message", "signature", "verification", "middleware", "asgi", "url", "replay")


def rows(*, quick: bool) -> list[Row]:
    """Measure the shares of all owners, and of the rooms of this library."""
    if not has_wrk():
        return []
    seen = sampled(bench_servers.QUICK_COUNT if quick else bench_servers.COUNT)
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
        *(Row(f"share of undersigned.{room}", whole, rooms[room] / seen.total()) for room in _ROOMS),
    ]


def sampled(count: int) -> Counter[Function]:
    """Return how often each function ran in a worker under load."""
    with tempfile.TemporaryDirectory(prefix="undersigned-bench-") as name:
        folder = Path(name)
        warming, requests = bench_servers.write_signed(folder, bench_servers.signed_for_us, count)
        with uvicorn_workers(bench_servers.asgi_verifying(), 1, samples=folder / "samples") as served:
            bench_servers.put_under_load(served, warming, requests, connections=8)
        return sampling.read(folder / "samples")

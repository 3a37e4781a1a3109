"""Real servers with and without the middleware, and with the helpers of peers, under the load of wrk.

The same pre-signed requests go to each side in turn. The application does nothing, which is the worst case.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.benchmarks.bench_middleware import ORIGINS, application
from tests.benchmarks.bench_peers import find_installed
from tests.benchmarks.load import has_wrk
from tests.benchmarks.row import Row
from tests.benchmarks.served import gunicorn_workers, uvicorn_workers
from tests.benchmarks.sides import QUICK, Side, Size, answer_under_load, count_in_words, sign_for_us
from tests.keys import KEYS

from undersigned import MemoryReplayStore, Verifier, asgi, profiles, wsgi

if TYPE_CHECKING:
    from tests.benchmarks.sides import Answered

    from undersigned import ReplayStore

_GOALS: Final = {"adcp": 1.5}
_MOST_P99 = 2.0
_SERVERS: Final = {"uvicorn": ("asgi", uvicorn_workers), "gunicorn": ("wsgi", gunicorn_workers)}


def rows(*, quick: bool) -> list[Row]:
    """Measure both servers with one worker and with two; only with one if it has to be quick."""
    if not has_wrk():
        return []
    found: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="undersigned-bench-") as folder:
        for server in _SERVERS:
            for workers in (1,) if quick else (1, 2):
                sides = _sides(server, workers)
                measured = answer_under_load(sides, QUICK if quick else Size(), Path(folder))
                names = [side.name for side in sides]
                found += _compare(f"{server}, {count_in_words(workers)}", dict(zip(names, measured, strict=True)))
    return found


def _sides(server: str, workers: int) -> list[Side]:
    interface, serving = _SERVERS[server]
    bare, ours = {"asgi": (application, asgi_verifying), "wsgi": (bare_wsgi, wsgi_verifying)}[interface]
    sides = [
        Side("bare", partial(serving, bare, workers), workers),
        Side("undersigned", partial(serving, ours(), workers), workers),
    ]
    for peer in find_installed():
        theirs = getattr(peer, f"{interface}_application")(bare)
        signed = getattr(peer, "sign_as_sender", sign_for_us)
        sides.append(Side(peer.NAME, partial(serving, theirs, workers), workers, signed))
    return sides


def asgi_verifying() -> asgi.SignatureMiddleware:
    """The bare ASGI application under the middleware, with a store in process."""
    return asgi.SignatureMiddleware(application, verifier=_verifier(MemoryReplayStore()), origins=ORIGINS)


def wsgi_verifying(store: ReplayStore | None = None) -> wsgi.SignatureMiddleware:
    """The bare WSGI application under the middleware, with a store in process unless one is given."""
    replay = MemoryReplayStore() if store is None else store
    return wsgi.SignatureMiddleware(bare_wsgi, verifier=_verifier(replay), origins=ORIGINS)


def _verifier(store: ReplayStore) -> Verifier:
    return Verifier(profiles.ADCP_3_2, keys=KEYS, replay=store)


def bare_wsgi(environ, start_response) -> list[bytes]:
    """Read the body and answer 200: the least an application does."""
    environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    start_response("200 OK", [("Content-Length", "0")])
    return [b""]


def _compare(served: str, measured: dict[str, Answered]) -> list[Row]:
    ours, bare = measured["undersigned"], measured["bare"]
    added = ours.processor_time - bare.processor_time
    found = [row for name, side in measured.items() for row in side.as_rows(f"{served}, {name}")]
    found += [
        Row(f"{served}: p99", "p50", ours.p99 / ours.p50, _MOST_P99),
        Row(f"{served}: requests a second", "without the middleware", ours.rate_relative_to(bare)),
        Row(f"{served}: processor time of a request", "without the middleware", added, None, "us more"),
    ]
    for name, peer in measured.items():
        if name in {"undersigned", "bare"}:
            continue
        goal, relative = _GOALS.get(name), ours.rate_relative_to(peer)
        found += [
            Row(f"{served}: requests a second", name, relative, goal, more_is_better=True),
            Row(f"{served}: processor time of a request", name, ours.processor_time / peer.processor_time),
        ]
    return found

"""`python -m tests.stores.capacity [REQUESTS]`: the processor time of each part of examples/deploy, for one request.

Signed requests go over 16 connections through nginx, without its limits. Print the milliseconds of a core that nginx,
the workers and Redis take for one, and the memory of Redis for a nonce.
"""

from __future__ import annotations

import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.keys import BODY
from tests.stores.test_deployment import Deployment, deployed
from tests.wire import read_response

_CONNECTIONS = 16
_UNLIMITED = (("limit_req zone", "# limit_req zone"), ("limit_conn connections", "# limit_conn connections"))


def main() -> int:
    """Measure, after some requests that are not counted."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as folder, deployed(Path(folder), *_UNLIMITED) as (made, nginx):
        workers: set[int] = set()
        while len(workers) < 2:
            workers |= made.serving()
        _send_all(made, 1000)
        parts = {"nginx": descendants(nginx.pid), "workers": workers, "Redis": {made.redis.process.pid}}
        with made.redis.client() as client:
            before, memory = {name: processor_time(each) for name, each in parts.items()}, client.info()["used_memory"]
            _send_all(made, count)
            for name, processes in parts.items():
                taken = processor_time(processes) - before[name]
                print(f"{name}: {1000 * taken / count:.3f} ms")  # noqa: T201
            print(f"a nonce in Redis: {(client.info()['used_memory'] - memory) / count:.0f} bytes")  # noqa: T201
    return 0


def _send_all(made: Deployment, count: int) -> None:
    share = count // _CONNECTIONS
    # Signed before, so that only sending them is beside what is measured.
    signed = [[_kept_alive(made) for _ in range(share)] for _ in range(_CONNECTIONS)]
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        for _ in pool.map(lambda requests: _send(made, requests), signed):
            pass


def _kept_alive(made: Deployment) -> bytes:
    return made.party.raw("POST", "/plans/gold", BODY).replace(b"Connection: close", b"Connection: keep-alive")


def _send(made: Deployment, requests: list[bytes]) -> None:
    # nginx ends a connection after 1,000 requests.
    for at in range(0, len(requests), 900):
        with made.connect() as connection:
            for raw in requests[at : at + 900]:
                connection.sendall(raw)
                answer = read_response(connection)
                assert answer.startswith(b"HTTP/1.1 200"), answer


def descendants(process: int) -> set[int]:
    children = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    return {process}.union(*map(descendants, children))


def processor_time(processes: set[int]) -> float:
    """Return the seconds for which processes have run, also within the kernel."""
    ticks = 0
    for process in processes:
        stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(stat[11]) + int(stat[12])
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())

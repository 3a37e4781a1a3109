"""The load on a real server: wrk, which sends signed requests from a file and takes a fraction of a server's time."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.traffic import BODY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.benchmarks.traffic import Fields

_SCRIPT = Path(__file__).with_name("replay.lua")
_NUL = b"\0"


@dataclass(frozen=True, slots=True)
class Measured:
    """How a server answered.

    Attributes:
        requests: how many it answered.
        rate: requests a second.
        p50: half of the requests took at most as many microseconds.
        p99: 99 of 100 requests took at most as many microseconds.
    """

    requests: int
    rate: float
    p50: float
    p99: float


def has_wrk() -> bool:
    """Return whether wrk is installed: `apt-get install wrk`."""
    return shutil.which("wrk") is not None


def write_requests(path: Path, signed: Iterable[tuple[str, Fields]]) -> None:
    """Write POST requests with the body of all benchmarks, from their targets and header fields."""
    path.write_bytes(_NUL.join(_raw(target, fields) for target, fields in signed))


def _raw(target: str, fields: Fields) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"POST {target} HTTP/1.1\r\n{head}\r\n".encode() + BODY


def load(port: int, requests: Path, *, connections: int, seconds: int) -> Measured:
    """Send requests over keep-alive connections, on each one after the other, until there are no more.

    Args:
        port: where the server listens, on 127.0.0.1.
        requests: what `write_requests` wrote.
        connections: how many requests are under way at once.
        seconds: how long at most.
    """
    address = f"http://127.0.0.1:{port}/"
    command = ["wrk", "-t1", f"-c{connections}", "-d", f"{seconds}s", "-s", str(_SCRIPT), address, "--", str(requests)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    said = json.loads(ended.stdout.splitlines()[-1])
    assert said["requests"] > 0, said
    assert said["rejected"] == said["broken"] == 0, said
    return Measured(said["requests"], said["requests"] * 1e6 / said["microseconds"], said["p50"], said["p99"])

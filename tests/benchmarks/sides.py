"""Applications that are served at once and put under load in turn, so that a busy machine slows all of them."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from tests.benchmarks.load import Measured, load, write_requests
from tests.benchmarks.row import Row
from tests.benchmarks.traffic import Handmade, sign_by_hand
from tests.keys import URL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.benchmarks.served import Served

Signing: TypeAlias = Callable[[int], Handmade]

_SECONDS = 2
"""The most for which one load lasts. It is shorter if a server is so fast that it has answered all requests before."""
_PATH = urlsplit(URL).path


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured.

    Attributes:
        rounds: how often each side is put under load.
        requests: the most that are sent in a round.
    """

    rounds: int = 3
    requests: int = 6000


QUICK = Size(rounds=1, requests=100)


def sign_for_us(now: int) -> Handmade:
    """Sign the request as a sender of AdCP 3.2, at a time."""
    return sign_by_hand(URL, now=now)


@dataclass(frozen=True, slots=True)
class Side:
    """An application that is served.

    Attributes:
        name: what the rows call it.
        serving: serves it.
        workers: by how many processes. Each of them gets eight connections.
        signed: makes a request, signed at a time.
    """

    name: str
    serving: Callable[[], AbstractContextManager[Served]]
    workers: int
    signed: Signing = sign_for_us


@dataclass(frozen=True, slots=True)
class Answered:
    """How a side did.

    Attributes:
        rounds: how it answered each load.
        seconds: the processor time of its workers.
    """

    rounds: list[Measured] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return statistics.median(measured.rate for measured in self.rounds)

    @property
    def p50(self) -> float:
        return statistics.median(measured.p50 for measured in self.rounds)

    @property
    def p99(self) -> float:
        return statistics.median(measured.p99 for measured in self.rounds)

    @property
    def processor_time(self) -> float:
        """The microseconds of its workers for a request."""
        return sum(self.seconds) * 1e6 / sum(measured.requests for measured in self.rounds)

    def rate_relative_to(self, other: Answered) -> float:
        """Return the median of the ratios of the same rounds."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        return statistics.median(ours.rate / theirs.rate for ours, theirs in pairs)

    def as_rows(self, what: str) -> list[Row]:
        return [
            Row(f"{what}: requests a second", "", self.rate, None, "per s", more_is_better=True),
            Row(f"{what}: half of the requests take", "", self.p50, None, "us"),
            Row(f"{what}: 99 % of the requests take", "", self.p99, None, "us"),
            Row(f"{what}: processor time of a request", "", self.processor_time, None, "us"),
        ]


def answer_under_load(sides: Sequence[Side], size: Size, folder: Path) -> list[Answered]:
    """Serve the sides and put each under load, round after round; sides that sign alike get the same requests."""
    signings = list(dict.fromkeys(side.signed for side in sides))
    now, found = int(time.time()), [Answered() for _ in sides]
    with contextlib.ExitStack() as running:
        served = [running.enter_context(side.serving()) for side in sides]
        for turn in range(size.rounds + 1):
            for number, signed in enumerate(signings):
                fields = (signed(now).fields for _ in range(size.requests))
                write_requests(folder / f"{number}", ((_PATH, each) for each in fields))
            for side, server, measured in zip(sides, served, found, strict=True):
                before = server.processor_time()
                sent = folder / f"{signings.index(side.signed)}"
                done = load(server.port, sent, connections=8 * side.workers, seconds=_SECONDS)
                # The first round warms the workers: some import something when they answer for the first time.
                if turn:
                    measured.rounds.append(done)
                    measured.seconds.append(server.processor_time() - before)
    return found


def count_in_words(workers: int) -> str:
    """Return a number of workers in words."""
    return "1 worker" if workers == 1 else f"{workers} workers"

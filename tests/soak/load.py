"""The clients of a soak: honest ones, whose latency counts, and broken, slow and aborting ones."""

from __future__ import annotations

import contextlib
import itertools
import socket
import statistics
import threading
import time
from collections import Counter

from tests.integrations.agreement import BODY, Agreement
from tests.serving import exchange

_PAUSE, _DRIP = 0.01, 0.05


class Load:
    """Mixed requests to a server, each kind from a thread of its own.

    Attributes:
        answers: how often an honest and a broken request got each status.
    """

    def __init__(self, port: int) -> None:
        self.answers = {"honest": Counter(), "broken": Counter()}
        self._port = port
        self._agreement = Agreement.make()
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
                kind(turn)

    def _honest(self, _turn: int) -> None:
        raw, begun = self._raw(), time.perf_counter()
        self._count("honest", exchange(self._port, raw))
        self._latencies.append(time.perf_counter() - begun)

    def _broken(self, turn: int) -> None:
        raw = self._raw()
        changes = (
            (BODY, BODY.swapcase()),
            (b"POST ", b"PUT "),
            (b"/plans", b"/plans/../%"),
            (b'sig1=("@method"', b'sig1=("@method";bs'),
            (b"Host: ", b"Host: other."),
            (b"Signature: ", b"X: "),
        )
        self._count("broken", exchange(self._port, raw.replace(*changes[turn % len(changes)])))

    def _slow(self, turn: int) -> None:
        raw = self._raw()
        with socket.create_connection(("127.0.0.1", self._port), timeout=10) as connection:
            # Half of them stop in the head, half in the content.
            connection.sendall(raw[:20] if turn % 2 else raw[:-10])
            for octet in raw[20:24] if turn % 2 else raw[-10:-6]:
                time.sleep(_DRIP)
                connection.sendall(bytes([octet]))

    def _abort(self, turn: int) -> None:
        raw = self._raw()
        with socket.create_connection(("127.0.0.1", self._port), timeout=10) as connection:
            connection.sendall(raw[: len(raw) * (turn % 5) // 4])

    def _raw(self) -> bytes:
        return self._agreement.raw("POST", "/plans", BODY)

    def _count(self, kind: str, answer: bytes) -> None:
        self.answers[kind][int(answer.split(b" ", 2)[1]) if answer else 0] += 1

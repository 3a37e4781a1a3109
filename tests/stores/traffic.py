"""Signed requests and replays of them that run while a store fails."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from tests.keys import KEY, KEYS
from tests.workers import wait_until

from undersigned import (
    Request,
    SignatureRejected,
    Signer,
    VerificationUnavailable,
    Verifier,
    profiles,
)

URL = "https://seller.example.com/adcp/get_products"
THREADS = 4


class Traffic:
    """Threads that send new requests, and some they have sent before, to one verifier.

    Attributes:
        accepted: the requests that were accepted, in order.
        unavailable: how many answers were 503.
        replayed: how many replays were rejected.
        wrong: what must not be: a request that was accepted twice, a new one that was rejected.
    """

    def __init__(self, store) -> None:
        self.verifier = Verifier(profiles.ADCP_3_2, keys=KEYS, replay=store)
        self.signer = Signer(KEY, profile=profiles.ADCP_3_2)
        self.accepted: list[Request] = []
        self.unavailable = 0
        self.replayed = 0
        self.wrong: list[str] = []
        self._unclear: list[Request] = []
        self._rounds = [0] * THREADS
        self._stopped = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._pool = ThreadPoolExecutor(THREADS)
        self._runs = [self._pool.submit(self._run, seed) for seed in range(THREADS)]
        return self

    def __exit__(self, *_) -> None:
        self._stopped.set()
        self._pool.shutdown()
        for run in self._runs:
            run.result()

    def flows(self, count: int = 60) -> None:
        """Wait until that many more requests were accepted, and replays rejected."""
        accepted, replayed = len(self.accepted) + count, self.replayed + count
        wait_until(lambda: len(self.accepted) >= accepted and self.replayed >= replayed)

    def is_unavailable(self, count: int = 8) -> None:
        """Wait until that many answers were 503."""
        seen = self.unavailable + count
        wait_until(lambda: self.unavailable >= seen)

    def fails(self, count: int = 8) -> None:
        """Wait until the store cannot be asked; then see that nothing at all is accepted."""
        self.is_unavailable(count)
        # A thread may still note what was accepted before: its next round has begun after the failure.
        rounds = [*self._rounds]
        wait_until(lambda: all(now > before + 1 for now, before in zip(self._rounds, rounds, strict=True)))
        accepted, seen = len(self.accepted), self.unavailable + count
        wait_until(lambda: self.unavailable >= seen)
        assert len(self.accepted) == accepted

    def send(self, request: Request) -> str:
        try:
            self.verifier.verify(request)
        except SignatureRejected as rejected:
            return rejected.code
        except VerificationUnavailable as unavailable:
            return unavailable.code
        return "accepted"

    def _run(self, thread: int) -> None:
        choice = random.Random(thread)  # noqa: S311 - it chooses what is sent again
        while not self._stopped.is_set():
            new = Request("GET", URL)
            self._note(Request("GET", URL, self.signer.sign(new)), known=None)
            with self._lock:
                known = [*self.accepted[-200:], *self._unclear[-20:]]
            if known:
                request = choice.choice(known)
                self._note(request, known=request)
            self._rounds[thread] += 1
            time.sleep(0.002)

    def _note(self, request: Request, *, known: Request | None) -> None:
        answer = self.send(request)
        with self._lock:
            if answer == "request_signature_store_unavailable":
                self.unavailable += 1
                if known is None:
                    self._unclear.append(request)
            elif answer == "accepted":
                if any(request is other for other in self.accepted):
                    self.wrong.append("a replay was accepted")
                self.accepted.append(request)
            elif known is not None and answer == "request_signature_replayed":
                self.replayed += 1
            else:
                self.wrong.append(f"{answer}, new: {known is None}")

    def check(self, store) -> None:
        """See that nothing went wrong, and that each accepted request is rejected when it comes again."""
        assert self.wrong == []
        again = Traffic(store)
        assert {again.send(request) for request in self.accepted} == {"request_signature_replayed"}

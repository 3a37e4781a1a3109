"""Replay stores that measure the claims of another store."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from opentelemetry.metrics import Observation

from undersigned.fork_safety import PerProcess
from undersigned.replay import NoConnection
from undersigned.verification import awaited, from_tasks, may_block

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from opentelemetry.metrics import Meter

    from undersigned import AsyncReplayStore, Caps, Claim, ReplayStore

_RESULTS: Final = ("fresh", "same", "seen", "forgotten", "full", "no_connection", "error")
_QUANTILES: Final = (0.5, 0.99, 1.0)
_MOST_KEPT: Final = 1000
"""Claims whose time is kept for the next report: the last ones."""


class _Measured:
    """What was measured in this process."""

    __slots__ = ("counts", "lock", "most", "now", "seconds")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.now = self.most = 0
        self.counts = dict.fromkeys(_RESULTS, 0)
        self.seconds: deque[float] = deque(maxlen=_MOST_KEPT)


class Claims:
    """The measure of the claims of all stores: how many, how long they take, and how many are under way.

    A report reads it. To record each claim through an SDK would cost a twentieth of a verification.
    """

    __slots__ = ("_measured",)

    def __init__(self, meter: Meter) -> None:
        # The claims of the process that forked this one do not end here, and are reported there.
        self._measured = PerProcess(_Measured)
        meter.create_observable_counter(
            "undersigned.replay.claims",
            [lambda _options: self._by_result()],
            unit="{claim}",
            description="Nonces that were claimed in the replay store.",
        )
        meter.create_observable_gauge(
            "undersigned.replay.claim.time",
            [lambda _options: self._take_quantiles()],
            unit="s",
            description="How long the last claims of nonces in the replay store took.",
        )
        meter.create_observable_gauge(
            "undersigned.replay.claims.under_way",
            [lambda _options: self._take_most()],
            unit="{claim}",
            description="The most claims that were under way at once since the last report.",
        )

    @contextmanager
    def measured(self) -> Generator[list[Claim]]:
        """Measure one claim. Its answer is put into the list."""
        measured, begun = self._measured.get(), time.perf_counter()
        with measured.lock:
            measured.now += 1
            measured.most = max(measured.most, measured.now)
        answers: list[Claim] = []
        result = "error"
        try:
            yield answers
            result = answers[0] if answers[0] in _RESULTS else "error"
        except NoConnection:
            result = "no_connection"
            raise
        finally:
            seconds = time.perf_counter() - begun
            with measured.lock:
                measured.now -= 1
                measured.counts[result] += 1
                measured.seconds.append(seconds)

    def _by_result(self) -> list[Observation]:
        return [Observation(count, {"result": name}) for name, count in self._measured.get().counts.items() if count]

    def _take_quantiles(self) -> list[Observation]:
        measured = self._measured.get()
        with measured.lock:
            taken = sorted(measured.seconds)
            measured.seconds.clear()
        last = len(taken) - 1
        return [Observation(taken[round(last * share)], {"quantile": str(share)}) for share in _QUANTILES if taken]

    def _take_most(self) -> list[Observation]:
        measured = self._measured.get()
        with measured.lock:
            most, measured.most = measured.most, measured.now
        return [Observation(most)]


class CountedReplayStore:
    """A replay store for a `Verifier` that measures the claims of another store.

    Args:
        store: the store.
        claims: the measure.
    """

    __slots__ = ("_claims", "_store")

    def __init__(self, store: ReplayStore, claims: Claims) -> None:
        self._store = store
        self._claims = claims

    @property
    def blocking(self) -> bool:
        """Whether a call of the store may block."""
        return may_block(self._store)

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """As `ReplayStore.full`."""
        return self._store.full(keyid, now=now, caps=caps)

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """As `ReplayStore.claim`."""
        with self._claims.measured() as answers:
            answers.append(self._store.claim(keyid, nonce, now=now, until=until, caps=caps, content=content))
        return answers[0]


class AsyncCountedReplayStore:
    """A replay store for an `AsyncVerifier` that measures the claims of another store.

    Args:
        store: the store, whose answers may be awaitable.
        claims: the measure.
    """

    __slots__ = ("_claim", "_claims", "_full")

    def __init__(self, store: AsyncReplayStore, claims: Claims) -> None:
        self._full: Callable[..., bool | Awaitable[bool]] = from_tasks(store, "full")
        self._claim: Callable[..., Claim | Awaitable[Claim]] = from_tasks(store, "claim")
        self._claims = claims

    async def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """As `AsyncReplayStore.full`."""
        return await awaited(self._full(keyid, now=now, caps=caps))

    async def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """As `AsyncReplayStore.claim`."""
        with self._claims.measured() as answers:
            answer = self._claim(keyid, nonce, now=now, until=until, caps=caps, content=content)
            answers.append(await awaited(answer))
        return answers[0]

"""Replay stores that measure the claims of another store."""

from __future__ import annotations

import threading
import time
from inspect import isawaitable
from typing import TYPE_CHECKING, Final, TypeVar, cast

from undersigned.replay import NoConnection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from opentelemetry.metrics import Histogram

    from undersigned import AsyncReplayStore, Caps, Claim, ReplayStore

Answer = TypeVar("Answer")

_RESULTS: Final = {
    name: {"result": name} for name in ("fresh", "same", "seen", "forgotten", "full", "no_connection", "error")
}
_STRANGE: Final = _RESULTS["error"]


class Claims:
    """The measure of the claims of all stores: how long they take, and how many are under way.

    Args:
        durations: gets the seconds of each claim, by its result.
    """

    __slots__ = ("_durations", "_lock", "_most", "_now")

    def __init__(self, durations: Histogram) -> None:
        self._durations = durations
        self._lock = threading.Lock()
        self._now = self._most = 0

    def begin(self) -> float:
        """Note that a claim begins. Return the time."""
        with self._lock:
            self._now += 1
            self._most = max(self._most, self._now)
        return time.perf_counter()

    def end(self, begun: float, result: object) -> None:
        """Note that a claim has ended, with an answer or an exception."""
        with self._lock:
            self._now -= 1
        if isinstance(result, BaseException):
            result = "no_connection" if isinstance(result, NoConnection) else "error"
        self._durations.record(time.perf_counter() - begun, _RESULTS.get(cast("str", result), _STRANGE))

    def most(self) -> int:
        """Return how many claims were under way at once, at most, since this was asked last."""
        with self._lock:
            most, self._most = self._most, self._now
        return most


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
        return getattr(self._store, "blocking", True)

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """As `ReplayStore.full`."""
        return self._store.full(keyid, now=now, caps=caps)

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """As `ReplayStore.claim`."""
        begun = self._claims.begin()
        try:
            result = self._store.claim(keyid, nonce, now=now, until=until, caps=caps, content=content)
        except BaseException as failure:
            self._claims.end(begun, failure)
            raise
        self._claims.end(begun, result)
        return result


class AsyncCountedReplayStore:
    """A replay store for an `AsyncVerifier` that measures the claims of another store.

    Args:
        store: the store, whose answers may be awaitable.
        claims: the measure.
    """

    __slots__ = ("_claim", "_claims", "_full")

    def __init__(self, store: AsyncReplayStore, claims: Claims) -> None:
        self._full: Callable[..., bool | Awaitable[bool]] = getattr(store, "async_full", store.full)
        self._claim: Callable[..., Claim | Awaitable[Claim]] = getattr(store, "async_claim", store.claim)
        self._claims = claims

    async def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """As `AsyncReplayStore.full`."""
        return await _resolve(self._full(keyid, now=now, caps=caps))

    async def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """As `AsyncReplayStore.claim`."""
        begun = self._claims.begin()
        try:
            result: Claim = await _resolve(self._claim(keyid, nonce, now=now, until=until, caps=caps, content=content))
        except BaseException as failure:
            self._claims.end(begun, failure)
            raise
        self._claims.end(begun, result)
        return result


async def _resolve(answer: Answer | Awaitable[Answer]) -> Answer:
    return await cast("Awaitable[Answer]", answer) if isawaitable(answer) else answer

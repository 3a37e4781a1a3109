"""Kept documents: a cache, its fetches one at a time, and their background refresh; for threads and for asyncio."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from undersigned.discovery.flight import AsyncFlight, Flight
from undersigned.errors import KeySourceError
from undersigned.verification.verifier import finish

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from undersigned.discovery.cache import Cache, Copy
    from undersigned.discovery.flight import Outcome

Value = TypeVar("Value")

_logger = logging.getLogger("undersigned.discovery")


class Load(Protocol[Value]):
    """Fetches a document anew; given the last copy, for a conditional request.

    Raises:
        KeySourceError: the document cannot be had now.
    """

    def __call__(self, last: Copy[Value] | None, /) -> Coroutine[object, None, Copy[Value]]:
        """Return a copy."""
        ...


class Kept(Generic[Value]):
    """A document that threads share.

    Args:
        name: what the log calls it.
        load: fetches it; its coroutine must not suspend.
        cache: where it is kept.
        wait: the seconds that a caller waits for a fetch, which goes on after that.
    """

    __slots__ = ("_cache", "_flight", "_load", "_name", "_stop", "_thread", "_wait")

    def __init__(self, name: str, load: Load[Value], cache: Cache[Value], *, wait: float) -> None:
        self._name = name
        self._wait = wait
        self._load = load
        self._cache = cache
        self._flight = Flight()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def last(self) -> Value | None:
        """Return the value that was fetched last, however long ago."""
        return None if self._cache.copy is None else self._cache.copy.value

    def waits(self, satisfied: Callable[[Value], bool]) -> bool:
        """Return whether `get` would fetch now, or wait for a fetch."""
        value = self._cache.fresh()
        if value is not None and satisfied(value):
            return False
        return self._flight.is_flying or self._cache.is_due(since=self._cache.now(), satisfied=satisfied)

    def get(self, satisfied: Callable[[Value], bool]) -> Value:
        """Return the value, fetched before if it is not fresh, or if it does not satisfy and may be fetched again.

        Raises:
            KeySourceError: there is no value, or a value that does not satisfy could not be fetched again, or not in
                time.
        """
        cache = self._cache
        value = cache.fresh()
        if value is None or not satisfied(value):
            since, ends = cache.now(), time.monotonic() + self._wait

            def due() -> bool:
                return cache.claim(since=since, satisfied=satisfied)

            ended = self._flight.run(self._fetch, if_due=due, seconds=self._wait)
            if ended == "joined":
                # What had begun before may have missed what was published since.
                left = max(0.0, ends - time.monotonic())
                ended = self._flight.run(self._fetch, if_due=due, seconds=left)
            value = _answer(cache, satisfied, ended)
        return value

    def start(self) -> None:
        """Refresh in the background until `stop`; once started, starting again does nothing."""
        # The thread of a process that was forked since does not run here.
        if self._thread is None or not self._thread.is_alive():
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self._refresh, name=f"undersigned {self._name}", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the background refresh, and wait for the fetch that is in flight."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stop.set()
            thread.join()
        self._flight.wait()

    def _refresh(self) -> None:
        cache = self._cache
        stop = self._stop
        while not stop.wait(max(0.0, cache.refresh_at() - cache.now())):
            self._flight.run(self._fetch, if_due=lambda: cache.refresh_at() <= cache.now(), seconds=None)

    def _fetch(self) -> None:
        try:
            self._cache.store(finish(self._load(self._cache.copy)))
        except Exception as error:  # noqa: BLE001 - whoever waits is to be told
            self._cache.fail(_told(self._name, error))


class AsyncKept(Generic[Value]):
    """`Kept` for the tasks of an event loop."""

    __slots__ = ("_cache", "_flight", "_load", "_name", "_task", "_wait")

    def __init__(self, name: str, load: Load[Value], cache: Cache[Value], *, wait: float) -> None:
        self._name = name
        self._wait = wait
        self._load = load
        self._cache = cache
        self._flight = AsyncFlight()
        self._task: asyncio.Task[None] | None = None

    def fresh(self) -> Value | None:
        """Return the value while it is fresh."""
        return self._cache.fresh()

    def last(self) -> Value | None:
        """Return the value that was fetched last, however long ago."""
        return None if self._cache.copy is None else self._cache.copy.value

    async def get(self, satisfied: Callable[[Value], bool]) -> Value:
        """As `Kept.get`, once `fresh` did not satisfy."""
        cache, since, ends = self._cache, self._cache.now(), time.monotonic() + self._wait

        def due() -> bool:
            return cache.claim(since=since, satisfied=satisfied)

        ended = await self._flight.run(self._fetch, if_due=due, seconds=self._wait)
        if ended == "joined":
            left = max(0.0, ends - time.monotonic())
            ended = await self._flight.run(self._fetch, if_due=due, seconds=left)
        return _answer(cache, satisfied, ended)

    def start(self) -> None:
        """As `Kept.start`; an event loop has to run."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._refresh(), name=f"undersigned {self._name}")

    async def stop(self) -> None:
        """End the background refresh, and the fetch that is in flight."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        await self._flight.cancel()

    async def _refresh(self) -> None:
        cache = self._cache
        while True:
            await asyncio.sleep(max(0.0, cache.refresh_at() - cache.now()))
            await self._flight.run(self._fetch, if_due=lambda: cache.refresh_at() <= cache.now(), seconds=None)

    async def _fetch(self) -> None:
        try:
            self._cache.store(await self._load(self._cache.copy))
        except Exception as error:  # noqa: BLE001 - whoever waits is to be told
            self._cache.fail(_told(self._name, error))


def _answer(cache: Cache[Value], satisfied: Callable[[Value], bool], ended: Outcome) -> Value:
    """Return the value after a wait for a fetch. A stale one is better than none; but it cannot say what is not there.

    Raises:
        KeySourceError: there is no value, or one that does not satisfy, and it could not be fetched in time.
    """
    value = cache.answer()
    if not satisfied(value):
        if ended == "flying":
            raise KeySourceError("signature_jwks_unavailable", "the fetch takes longer than wait_timeout, and goes on")
        if (failure := cache.failure) is not None:
            raise failure
    return value


def _told(name: str, error: Exception) -> KeySourceError:
    """Return the failure that `error` is, and log it."""
    if isinstance(error, KeySourceError):
        _logger.warning("%s: %s", name, error)
        return error
    _logger.error("%s: fetching it raised an exception", name, exc_info=error)
    return KeySourceError("signature_jwks_unavailable", "fetching raised an exception: see the log")

"""Kept documents: each has a cache, one fetch at a time, and a background refresh; for threads and for asyncio."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from undersigned.discovery.fetch_report import FetchReport
from undersigned.discovery.flight import AsyncFlight, Flight
from undersigned.errors import KeySourceError
from undersigned.verification.verifier import finish

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from undersigned.discovery.cache import Cache, Copy
    from undersigned.discovery.fetch_report import Document
    from undersigned.discovery.flight import Outcome
    from undersigned.discovery.network import Network
    from undersigned.errors import Reason

Value = TypeVar("Value")

_logger = logging.getLogger("undersigned.discovery")


class Load(Protocol[Value]):
    """A function that fetches a document. It gets the last copy, if there is one, for a conditional request.

    Raises:
        KeySourceError: the document cannot be fetched now.
    """

    def __call__(self, last: Copy[Value] | None, /) -> Coroutine[object, None, Copy[Value]]:
        """Return a copy."""
        ...


class Kept(Generic[Value]):
    """A document that threads share.

    Args:
        name: the name of the document in the log.
        load: fetches the document; its coroutine must not suspend.
        cache: the cache for the document.
        network: has the seconds that a caller waits for a fetch, and the function that gets its report. The fetch
            continues after that time.
        document: what the document is, for that report.
    """

    __slots__ = ("_cache", "_document", "_flight", "_load", "_name", "_network", "_stop", "_thread", "_wait")

    def __init__(
        self, name: str, load: Load[Value], cache: Cache[Value], *, network: Network, document: Document = "keys"
    ) -> None:
        self._name = name
        self._network = network
        self._document: Document = document
        self._wait = network.wait_timeout
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
        """Return the value. First fetch it if it is not fresh, or if it does not satisfy and may be fetched again.

        Args:
            satisfied: tells whether a value has what the caller needs.

        Raises:
            KeySourceError: there is no value, or the value does not satisfy and could not be fetched again in time.
        """
        cache = self._cache
        value = cache.fresh()
        if value is None or not satisfied(value):
            since, ends = cache.now(), time.monotonic() + self._wait

            def due() -> bool:
                return cache.claim(since=since, satisfied=satisfied)

            ended = self._flight.run(self._fetch, if_due=due, seconds=self._wait)
            if ended == "joined":
                # That fetch began before this call, so it may have missed a newer version of the document.
                left = max(0.0, ends - time.monotonic())
                ended = self._flight.run(self._fetch, if_due=due, seconds=left)
            value = _answer(cache, satisfied, ended)
        return value

    def start(self) -> None:
        """Refresh in the background until `stop`. A second call does nothing."""
        # A thread that was started before a fork does not run in this process.
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
        began, reason = time.perf_counter(), None
        try:
            self._cache.store(finish(self._load(self._cache.copy)))
        except Exception as error:  # noqa: BLE001 - the callers that wait get the failure
            failure = _logged_failure(self._name, error)
            self._cache.fail(failure)
            reason = failure.reason
        _report(self._network, self._document, self._name, began, reason)


class AsyncKept(Generic[Value]):
    """`Kept` for the tasks of an event loop."""

    __slots__ = ("_cache", "_document", "_flight", "_load", "_name", "_network", "_task", "_wait")

    def __init__(
        self, name: str, load: Load[Value], cache: Cache[Value], *, network: Network, document: Document = "keys"
    ) -> None:
        self._name = name
        self._network = network
        self._document: Document = document
        self._wait = network.wait_timeout
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
        """Return the value as `Kept.get` does. Call it only if the value of `fresh` does not satisfy."""
        cache, since, ends = self._cache, self._cache.now(), time.monotonic() + self._wait

        def due() -> bool:
            return cache.claim(since=since, satisfied=satisfied)

        ended = await self._flight.run(self._fetch, if_due=due, seconds=self._wait)
        if ended == "joined":
            left = max(0.0, ends - time.monotonic())
            ended = await self._flight.run(self._fetch, if_due=due, seconds=left)
        return _answer(cache, satisfied, ended)

    def start(self) -> None:
        """Refresh in the background until `stop`, in a task of the running event loop. A second call does nothing."""
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
        began, reason = time.perf_counter(), None
        try:
            self._cache.store(await self._load(self._cache.copy))
        except Exception as error:  # noqa: BLE001 - the callers that wait get the failure
            failure = _logged_failure(self._name, error)
            self._cache.fail(failure)
            reason = failure.reason
        _report(self._network, self._document, self._name, began, reason)


def _answer(cache: Cache[Value], satisfied: Callable[[Value], bool], ended: Outcome) -> Value:
    """Return the value after a wait for a fetch.

    A stale value is returned if it satisfies. If it does not, a newer version of the document may have what is missing.

    Raises:
        KeySourceError: there is no value, or the value does not satisfy and could not be fetched again in time.
    """
    value = cache.answer()
    if not satisfied(value):
        if ended == "flying":
            raise KeySourceError(
                "signature_jwks_unavailable", "the fetch takes longer than wait_timeout, and continues"
            )
        if (failure := cache.failure) is not None:
            raise failure
    return value


def _report(network: Network, document: Document, url: str, began: float, error: Reason | None) -> None:
    seconds = time.perf_counter() - began
    FetchReport(document=document, url=url, seconds=seconds, error=error).send(network.on_fetch)


def _logged_failure(name: str, error: Exception) -> KeySourceError:
    """Log `error`, and return it as the failure of a key source."""
    if isinstance(error, KeySourceError):
        _logger.warning("%s: %s", name, error)
        return error
    _logger.error("%s: fetching it raised an exception", name, exc_info=error)
    return KeySourceError("signature_jwks_unavailable", "fetching raised an exception: see the log")

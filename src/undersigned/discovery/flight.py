"""One fetch in flight, however many threads or tasks wait for it."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Outcome: TypeAlias = Literal["not due", "fetched", "joined", "flying"]
"""How a wait for a fetch ended: no fetch was due, one began and ended, an earlier one ended, or one has not ended."""


class Flight:
    """A lock that lets one thread fetch while the other threads of the process wait for the document.

    A process that was forked during a fetch starts without it.
    """

    __slots__ = ("_landed", "_lock", "_process")

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._landed: threading.Event | None = None

    @property
    def is_flying(self) -> bool:
        """Whether a fetch is in flight."""
        return self._landed is not None and self._process == os.getpid()

    def run(self, fetch: Callable[[], None], *, if_due: Callable[[], bool], seconds: float | None) -> Outcome:
        """Wait for the fetch that is in flight. If there is none and `if_due` returns True, begin one and wait for it.

        Args:
            fetch: fetches, in a thread of its own. It must end in bounded time and must not raise. If the wait is over
                first, it continues.
            if_due: tells whether to fetch. It is called under a lock and must not block.
            seconds: how long to wait; None: until the fetch ends.
        """
        if self._process != os.getpid():
            self._lock, self._landed, self._process = threading.Lock(), None, os.getpid()
        with self._lock:
            joined, landed = self._landed, threading.Event()
            if joined is None:
                if not if_due():
                    return "not due"
                self._landed = landed
        if joined is not None:
            return "joined" if joined.wait(seconds) else "flying"
        thread = threading.Thread(target=self._fly, args=(fetch, landed), name="undersigned-fetch", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The process may have no more threads.
            self._fly(fetch, landed)
        return "fetched" if landed.wait(seconds) else "flying"

    def wait(self) -> None:
        """Wait for the end of the fetch that is in flight, if there is one."""
        landed = self._landed
        if landed is not None and self.is_flying:
            landed.wait()

    def _fly(self, fetch: Callable[[], None], landed: threading.Event) -> None:
        try:
            fetch()
        finally:
            with self._lock:
                self._landed = None
            landed.set()


class AsyncFlight:
    """A lock that lets one task fetch while the other tasks of the event loop wait for the document.

    A task that waits may be cancelled. The fetch continues for the other tasks. A new event loop starts without the
    fetch of an old one.
    """

    __slots__ = ("_task",)

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    async def run(
        self, fetch: Callable[[], Coroutine[object, None, None]], *, if_due: Callable[[], bool], seconds: float | None
    ) -> Outcome:
        """As `Flight.run`, in an event loop."""
        loop = asyncio.get_running_loop()
        task = self._task
        joins = task is not None and not task.done() and task.get_loop() is loop
        if task is None or not joins:
            if not if_due():
                return "not due"
            task = self._task = loop.create_task(fetch(), name="undersigned-fetch")
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            return "flying"
        return "joined" if joins else "fetched"

    async def cancel(self) -> None:
        """End the fetch that is in flight, if there is one."""
        task, self._task = self._task, None
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.wait([task])

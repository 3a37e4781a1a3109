"""One fetch in flight, however many threads or tasks wait for it."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class Flight:
    """Lets one thread fetch while the other threads of the process wait for it.

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
        return self._landed is not None

    def run(self, fetch: Callable[[], None], *, if_due: Callable[[], bool]) -> bool:
        """Wait for the fetch that is in flight; without one, call `fetch` if `if_due` returns True.

        `if_due` is called under a lock and must not block. `fetch` has to end in bounded time, and not to raise.

        Returns:
            Whether a fetch was waited for that had begun before.
        """
        if self._process != os.getpid():
            self._lock, self._landed, self._process = threading.Lock(), None, os.getpid()
        with self._lock:
            joined, landed = self._landed, threading.Event()
            if joined is None:
                if not if_due():
                    return False
                self._landed = landed
        if joined is not None:
            joined.wait()
            return True
        try:
            fetch()
        finally:
            with self._lock:
                self._landed = None
            landed.set()
        return False


class AsyncFlight:
    """Lets one task fetch while the other tasks of the event loop wait for it.

    A task that waits may be cancelled; the fetch goes on for the others. A new event loop starts without the fetch of
    an old one.
    """

    __slots__ = ("_task",)

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    async def run(self, fetch: Callable[[], Coroutine[object, None, None]], *, if_due: Callable[[], bool]) -> bool:
        """As `Flight.run`, in an event loop."""
        loop = asyncio.get_running_loop()
        task = self._task
        if task is not None and not task.done() and task.get_loop() is loop:
            await asyncio.wait([task])
            return True
        if if_due():
            task = self._task = loop.create_task(fetch(), name="undersigned-fetch")
            await asyncio.wait([task])
        return False

    async def cancel(self) -> None:
        """End the fetch that is in flight, if there is one."""
        task, self._task = self._task, None
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.wait([task])

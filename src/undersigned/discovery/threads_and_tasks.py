"""Waiting for what other threads do: in threads, and in tasks of an event loop."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for_futures
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

Result = TypeVar("Result")

Wait: TypeAlias = "Callable[[Collection[Future[object]], float], Awaitable[object]]"
"""A function that waits for one of several futures, for some seconds at most."""


async def wait_in_thread(futures: Collection[Future[object]], seconds: float) -> None:
    """Wait for one of the futures. It blocks, and does not suspend."""
    wait_for_futures(futures, seconds, FIRST_COMPLETED)


async def wait_in_task(futures: Collection[Future[object]], seconds: float) -> None:
    """Wait for one of the futures, without blocking the event loop. If it is cancelled, tasks among them are too."""
    loop, woken = asyncio.get_running_loop(), asyncio.Event()

    def wake(_future: Future[object]) -> None:
        # The loop may have been closed since.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(woken.set)

    for future in futures:
        future.add_done_callback(wake)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await woken.wait()
    except asyncio.CancelledError:
        for future in futures:
            # The future of a thread is also that of other requests.
            if isinstance(future, asyncio.Task):
                future.cancel()
        raise


def in_thread(call: Callable[[], Result], name: str, *, may_block: bool = True) -> Future[Result]:
    """Call a function in a daemon thread of its own, or here if it cannot block, or no thread can begin."""
    future: Future[Result] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            future.set_exception(error)

    start = threading.Thread(target=run, name=name, daemon=True).start if may_block else run
    try:
        start()
    except RuntimeError:
        run()
    return future

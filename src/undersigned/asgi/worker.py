"""The thread that parses long unverified content, so that the event loop serves other requests."""

from __future__ import annotations

from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor

Answer = TypeVar("Answer")


class Worker:
    """One thread for each event loop, started when it is first needed.

    The calls wait for each other. So however many of them there are, the event loop contends with one thread for the
    interpreter, and the threads of the application are free.
    """

    __slots__ = ("_threads",)

    def __init__(self) -> None:
        # By event loop: a process that was forked has another loop, and none of the threads.
        self._threads: WeakKeyDictionary[AbstractEventLoop, ThreadPoolExecutor] = WeakKeyDictionary()

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return what `call` returns in the thread of the running event loop."""
        import asyncio  # noqa: PLC0415 - as in asgi.body
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only asyncio needs it

        loop = asyncio.get_running_loop()
        thread = self._threads.get(loop)
        if thread is None:
            thread = self._threads[loop] = ThreadPoolExecutor(1, thread_name_prefix="undersigned")
        return await loop.run_in_executor(thread, partial(copy_context().run, partial(run_to_end, call)))


def run_to_end(call: Callable[[], Answer]) -> Answer:
    """Run `call` and return its result. Before Python 3.12, asyncio waits forever if it raises StopIteration."""
    try:
        return call()
    except StopIteration as stopped:
        raise RuntimeError("a call in a thread raised StopIteration") from stopped

"""Owned sources: sources that are started and stopped together with the source that contains them."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, cast

from undersigned.discovery.running import Running

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self


class Owned:
    """The sources that another source contains. Only sources that run in the background are started.

    Args:
        sources: the sources.
    """

    __slots__ = ("_async_stack", "_sources", "_stack")

    def __init__(self, sources: Sequence[object]) -> None:
        self._sources = sources
        self._stack = ExitStack()
        self._async_stack = AsyncExitStack()

    def start(self) -> None:
        """Start the sources that run in threads. If one cannot start, none is left running."""
        with ExitStack() as stack:
            for source in self._sources:
                if isinstance(source, AbstractContextManager):
                    stack.enter_context(cast("AbstractContextManager[object]", source))
            self._stack = stack.pop_all()

    def stop(self) -> None:
        """Stop those that were started, the last one first."""
        self._stack.close()

    async def start_tasks(self) -> None:
        """Start the sources that run in tasks. If one cannot start, none is left running."""
        async with AsyncExitStack() as stack:
            for source in self._sources:
                if isinstance(source, AbstractAsyncContextManager):
                    await stack.enter_async_context(cast("AbstractAsyncContextManager[object]", source))
            self._async_stack = stack.pop_all()

    async def stop_tasks(self) -> None:
        """Stop those that were started, the last one first."""
        await self._async_stack.aclose()


class Owner(Running):
    """A source that contains other sources, for threads: `with`, or `start` and `stop`, runs them all."""

    __slots__ = ()

    _owned: Owned

    def start(self) -> None:
        """Begin to fetch ahead of time. Threads do not survive a fork: start in the worker process."""
        self._owned.start()

    def stop(self) -> None:
        """End fetching ahead of time, and wait for the fetches in flight."""
        self._owned.stop()


class AsyncOwner:
    """`Owner` for the tasks of an event loop: `async with` runs them all."""

    __slots__ = ()

    _owned: Owned

    async def __aenter__(self) -> Self:
        await self._owned.start_tasks()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._owned.stop_tasks()

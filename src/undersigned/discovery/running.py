"""Sources that run in the background, in a thread or a task, between a start and a stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class Running(ABC):
    """A source that fetches ahead of time after `start` and until `stop`; `with` calls both."""

    __slots__ = ()

    @abstractmethod
    def start(self) -> None:
        """Begin to fetch ahead of time."""

    @abstractmethod
    def stop(self) -> None:
        """End fetching ahead of time."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class AsyncRunning(ABC):
    """`Running` for the tasks of an event loop; `async with` calls both."""

    __slots__ = ()

    @abstractmethod
    def start(self) -> None:
        """Begin to fetch ahead of time, in a task of the running event loop."""

    @abstractmethod
    async def stop(self) -> None:
        """End fetching ahead of time, and the fetches in flight."""

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

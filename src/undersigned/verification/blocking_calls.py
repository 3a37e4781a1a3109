"""Asking a neighbour: a key source, a source of revocation lists or a replay store. How is decided here, for all.

A neighbour has a method such as `find`, and may have `async_find`. `blocking` says whether `find` may block; if a
neighbour does not say, it may. A thread calls `find`. A task of an event loop calls `async_find`, or `find` if that is
a coroutine function or does not block. Any other `find` is called in a thread, and never on the loop.
"""

from __future__ import annotations

import contextvars
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from undersigned.errors import ConfigurationError
from undersigned.fork_safety import PerProcess
from undersigned.limits import MOST_VERIFYING_THREADS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

Answer = TypeVar("Answer")
Source = TypeVar("Source")

_WAITS: Final = "a method is async, and must be awaited: use AsyncVerifier"


def may_block(*neighbours: object) -> bool:
    """Return whether a thread that asks one of them may be blocked."""
    return any(getattr(one, "blocking", True) for one in neighbours if one is not None)


def is_awaited(neighbour: object, method: str) -> bool:
    """Return whether answers of the method have to be awaited, or those of a neighbour that it asks."""
    return iscoroutinefunction(getattr(neighbour, method)) or getattr(neighbour, "is_awaited", False)


def needs_waiting(neighbour: object, method: str) -> bool:
    """Return whether the method may block, or its answers have to be awaited."""
    return may_block(neighbour) or iscoroutinefunction(getattr(neighbour, method))


def needs_thread(neighbour: object, method: str) -> bool:
    """Return whether an event loop would be blocked, so that the method must be called in a thread."""
    can_wait = hasattr(neighbour, f"async_{method}") or iscoroutinefunction(getattr(neighbour, method))
    return may_block(neighbour) and not can_wait


def from_threads(neighbour: object, method: str, *, option: str = "") -> Callable[..., Any]:
    """Return the method that a thread calls. Errors name `option`.

    Raises:
        ConfigurationError: its answers have to be awaited.
    """
    if is_awaited(neighbour, method):
        raise ConfigurationError(f"{option}: its methods are async; use AsyncVerifier")
    ask: Callable[..., Any] = getattr(neighbour, method)
    return ask


def from_tasks(neighbour: object, method: str, *, option: str = "") -> Callable[..., Any]:  # noqa: ARG001 - as above
    """Return a function that a task calls. It takes what the method takes; what it returns may have to be awaited."""
    ask: Callable[..., Any] = getattr(neighbour, method)
    return _in_thread(ask) if needs_thread(neighbour, method) else getattr(neighbour, f"async_{method}", ask)


def _in_thread(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method be called in threads of its own: those of asyncio resolve names and work for the application."""
    # Threads do not survive a fork.
    executor = PerProcess(lambda: ThreadPoolExecutor(MOST_VERIFYING_THREADS, "asking"))

    async def asked(*args: object, **options: object) -> object:
        import asyncio  # noqa: PLC0415 - WSGI never needs it, and it takes long to import

        call = partial(contextvars.copy_context().run, ask, *args, **options)
        return await awaited(await asyncio.get_running_loop().run_in_executor(executor.get(), call))

    return asked


def is_ready(neighbour: object, *now: float) -> bool:
    """Return whether a neighbour can answer now. One without the method always can."""
    ask: Callable[..., bool] | None = getattr(neighbour, "is_ready", None)
    return ask is None or ask(*now)


class Several(Generic[Source]):
    """What a source says of itself that asks several others.

    Args:
        method: the method that it asks them by.
        sources: the others by name.
    """

    __slots__ = ("_from_tasks", "_method", "_sources")

    def __init__(self, method: str, sources: Mapping[str, Source]) -> None:
        self._method, self._sources = method, dict(sources)
        self._from_tasks = {name: from_tasks(one, method) for name, one in sources.items()}

    @property
    def blocking(self) -> bool:
        """Whether one of the others may block."""
        return may_block(*self._sources.values())

    @property
    def is_awaited(self) -> bool:
        """Whether answers of one of the others have to be awaited."""
        return any(is_awaited(one, self._method) for one in self._sources.values())

    def is_ready(self, *now: float) -> bool:
        """Return whether one of the others can answer. Fetches that are due begin; none is waited for."""
        ready = [is_ready(one, *now) for one in self._sources.values()]
        return any(ready)


def finish(coroutine: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine that never waits, and return its result.

    Raises:
        RuntimeError: it waits. The coroutine gets the error first, so a verifier can say which source is unavailable.
    """
    try:
        coroutine.send(None)
        coroutine.throw(RuntimeError(_WAITS))
    except StopIteration as done:
        answer: Answer = done.value
        return answer
    coroutine.close()
    raise RuntimeError(_WAITS)


async def awaited(answer: Answer | Awaitable[Answer]) -> Answer:
    """Return an answer, which may have to be awaited."""
    given: Any = answer
    settled: Answer = await given if hasattr(given, "__await__") else given
    return settled

"""Processes: what one opens no other uses after a fork (gunicorn --preload, uWSGI), and what is said once in each."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar
from weakref import WeakSet

from undersigned.errors import UndersignedError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class ForkedProcess(UndersignedError):
    """Raised when a store cannot be used in this process, as it was opened before the fork. The operator must act."""


_WAIT: Final = 1.0
"""Seconds that a fork waits for one lock: its holder may wait for another one that the fork already has."""


class PerProcess(Generic[T]):
    """What each process makes for itself when it first asks for it. What its parent made is neither used nor closed.

    Args:
        make: makes it.
    """

    __slots__ = ("_by_process", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._by_process: dict[int, T] = {}

    def get(self) -> T:
        """Return what this process has made."""
        process = os.getpid()
        made = self._by_process.get(process)
        return self._by_process.setdefault(process, self._make()) if made is None else made


_SAID: Final = PerProcess(set[str])


def is_first_time(text: str) -> bool:
    """Return whether this process has not asked with this text before."""
    said = _SAID.get()
    is_new = text not in said
    said.add(text)
    return is_new


def is_one_of_several() -> bool:
    """Return whether the parent of this process runs the same command in another child, as a server does its workers.

    Numbers in the command do not count. Without `/proc`, as on macOS and Windows, it is false.
    """
    own = _started("self")
    processes = Path("/proc").glob("[0-9]*") if own else ()
    return sum(_started(process.name) == own for process in processes) > 1


def _started(process: str) -> tuple[bytes, bytes] | None:
    """Return the parent of a process and its command without numbers; None: there is no such process."""
    try:
        told = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        return told[1], re.sub(rb"\d+", b"", Path(f"/proc/{process}/cmdline").read_bytes())
    except (OSError, IndexError):
        return None


class ProcessLock(PerProcess["threading.Lock"]):
    """A lock between the threads of a process. A fork waits for it, so a child never sees half of what it guards.

    In a child it is free, whoever held it in the parent.
    """

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        super().__init__(threading.Lock)
        _LOCKS.add(self)

    def acquire(self, *, timeout: float = -1) -> bool:
        """Wait for the lock for some seconds, or without a limit. Return whether it is held now."""
        return self.get().acquire(timeout=timeout)

    def release(self) -> None:
        """Free the lock."""
        self.get().release()

    def __enter__(self) -> None:
        self.get().acquire()

    def __exit__(self, *_: object) -> None:
        self.get().release()


class Home:
    """The process in which a client of a server was opened. In a process forked from it, it must not be used.

    Args:
        what: how to open it in each process, for the error.
        is_open: returns whether it is open now. The process that uses it first counts as the one that opened it, if
            it was not open before, nor at a fork.
    """

    __slots__ = ("__weakref__", "_is_open", "_process", "_told", "_what")

    def __init__(self, what: str, *, is_open: Callable[[], bool]) -> None:
        self._what = what
        self._is_open = is_open
        self._process: int | None = None
        self._told: int | None = None
        self.note()
        _HOMES.add(self)

    def note(self) -> None:
        """Note this process if it is open now."""
        if self._process is None and self._is_open():
            self._process = os.getpid()

    def check(self) -> None:
        """Check that this is the process.

        Raises:
            ForkedProcess: it is another one. The operator must act: the first error in a process says how.
        """
        process = os.getpid()
        if self._process is None:
            self._process = process
        if self._process != process:
            # Each rejected request has a line in the log. The first one in a process says what to do.
            told, self._told = self._told, process
            what = "see the first such line of this process" if told == process else self._what
            raise ForkedProcess(
                f"process {self._process} opened it before process {process} was forked, and two processes on one "
                f"connection would read each other's answers: {what}"
            )


_LOCKS: Final[WeakSet[ProcessLock]] = WeakSet()
_HOMES: Final[WeakSet[Home]] = WeakSet()
"""All of them: Python cannot take back what is registered for a fork, so it is registered once."""


def _before_fork(held: list[ProcessLock]) -> None:
    for home in list(_HOMES):
        home.note()
    held += [lock for lock in list(_LOCKS) if lock.acquire(timeout=_WAIT)]


def _after_fork(held: list[ProcessLock]) -> None:
    while held:
        held.pop().release()


def _register() -> None:
    held: list[ProcessLock] = []
    with contextlib.suppress(AttributeError):  # Windows has no fork
        # A child has a free lock of its own, and does not release its parent's.
        os.register_at_fork(
            before=lambda: _before_fork(held),
            after_in_parent=lambda: _after_fork(held),
            after_in_child=held.clear,
        )


_register()

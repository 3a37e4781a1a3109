"""Watched files: a value that is read from a file, and read again when the file changes."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeVar, cast

from undersigned.errors import ConfigurationError, UndersignedError

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")

_Version: TypeAlias = tuple[int, int, int]

_INTERVAL: Final = 1.0
"""Seconds between two looks at a file."""

_logger = logging.getLogger("undersigned")


class NotYet(ConfigurationError):
    """Raised when a value becomes usable only later, so its file is read again even if it does not change."""


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


class WatchedFile(Generic[Value]):
    """A value that is read from a file, and read again when the file changes. Safe to share between threads.

    The file has changed when its modification time, size or inode has. While it is missing or broken, the last good
    value is used, and the log says so once.

    Args:
        path: the file.
        read: makes the value of the file's bytes; raises an `UndersignedError` if it cannot.
        most: upper bound on the bytes of the file.
        clock: seconds that never go back.

    Attributes:
        path: the file.

    Raises:
        ConfigurationError: the file cannot be read, or `read` cannot use it.
    """

    __slots__ = ("_clock", "_fault", "_looked", "_most", "_read", "_state", "path")

    def __init__(
        self,
        path: str | os.PathLike[str],
        read: Callable[[bytes], Value],
        *,
        most: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = Path(path)
        self._read = read
        self._most = most
        self._clock = clock
        self._looked = clock()
        self._fault = ""
        self._state: tuple[Value | None, _Version | None] = None, None
        fault = self._look()
        if fault:
            raise ConfigurationError(f"path: {self.path} cannot be used: {fault}")

    @property
    def value(self) -> Value:
        """The value of the file, or the last good value if the file is missing or broken."""
        now = self._clock()
        if now >= self._looked + _INTERVAL:
            fault = self._look()
            if fault and fault != self._fault:
                _logger.error("%s: %s; what was read before is used", self.path, fault)
            self._fault = fault
            # Only now: until the file is read, another thread must not take the old value for the new one.
            self._looked = now
        return cast("Value", self._state[0])

    def _look(self) -> str:
        """Read the file if it has changed, and return why it cannot be used, or ""."""
        value, version = self._state
        fault = ""
        try:
            # A named pipe would be waited for, also on an event loop.
            with open(self.path, "rb", opener=_open_at_once) as file:
                status = os.fstat(file.fileno())
                found = status.st_mtime_ns, status.st_size, status.st_ino
                if found == version:
                    return self._fault
                text = file.read(self._most + 1)
            version = found
            if len(text) > self._most:
                raise ConfigurationError(f"the file has more than {self._most} bytes")
            value = self._read(text)
        except OSError as error:
            version, fault = None, error.strerror or type(error).__name__
        except NotYet as error:
            version, fault = None, str(error)
        except UndersignedError as error:
            fault = str(error)
        # One assignment, as two threads may look at once: a new version never comes with an old value.
        self._state = value, version
        return fault

"""A replay store in one SQLite file, for the processes of one host (RFC 9421 section 7.2.2)."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from undersigned.errors import ConfigurationError, UndersignedError
from undersigned.replay.nonce import bounded_nonce, content_marker
from undersigned.replay.nonce_tables import NonceTables

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator
    from types import TracebackType

    from undersigned.replay.store import Claim, ContentClaim
    from undersigned.signature.rules import Caps

_LONGEST_TIMEOUT = 3600
_PAUSE = 0.01


class ReplacedFile(UndersignedError):
    """Raised when another file has replaced the opened store. Its nonces may be lost: the operator must act."""


class SqliteReplayStore:
    """A replay store in a file that several processes of one host share. Safe to share between threads.

    You may create it before or after the workers are forked. Each claim is one transaction. If a claim cannot be
    written, it raises an exception and the request gets 503. That happens if the disk is full, or if the file stays
    locked, is damaged or was replaced. The next claim tries again.

    Each claim deletes a few nonces that have ended. If a nonce ends before the latest deleted nonce, it counts as seen,
    because it may have been deleted. That happens only if a clock is slow or was set back.

    Args:
        path: the file, on a local disk; it is made if it does not exist. SQLite adds two files next to it.
        timeout: the seconds that a call waits while other processes write.
        survives_power_loss: whether each claim waits until it is on the disk. If False, claims are several times faster
            and still survive the end of any process. But a crash of the operating system may lose the last claims. Then
            their nonces could be used again.

    Raises:
        ConfigurationError: the file cannot be opened, or is not a replay store.
    """

    __slots__ = ("_id", "_opened", "_path", "_survives_power_loss", "_timeout")

    def __init__(self, path: str | os.PathLike[str], *, timeout: float = 5.0, survives_power_loss: bool = True) -> None:
        if not isinstance(timeout, (int, float)) or not 0 < timeout <= _LONGEST_TIMEOUT:
            raise ConfigurationError("timeout: give seconds greater than 0, such as 5, and at most an hour")
        if not isinstance(path, (str, os.PathLike)) or str(path) in {"", ":memory:"}:
            raise ConfigurationError("path: give the path of a file; for one process, use MemoryReplayStore")
        self._path = Path(path).absolute()
        self._timeout = timeout
        self._survives_power_loss = survives_power_loss
        self._id = self._prepare()
        self._opened = _Opened()

    @property
    def blocking(self) -> bool:
        """Always True: a call reads and writes a file."""
        return True

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`.

        Raises:
            sqlite3.Error: the file cannot be read now.
            ReplacedFile: another file has taken its place.
        """
        with self._connection() as connection:
            return NonceTables(connection).full(keyid, now=now, caps=caps)

    def claim(self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps) -> Claim:
        """Remember the pair of keyid and nonce until `until`. This and the two checks are one atomic step.

        Raises:
            sqlite3.Error: the file cannot be written now.
            ReplacedFile: another file has taken its place.
        """
        with self._connection() as connection:
            return NonceTables(connection).claim(keyid, bounded_nonce(nonce), now=now, until=until, caps=caps)

    def claim_content(
        self, keyid: str, nonce: str, content: str, *, now: float, until: float, caps: Caps
    ) -> ContentClaim:
        """Remember the pair and the content it came with, as `claim` does. The content counts as one more nonce.

        Raises:
            sqlite3.Error: the file cannot be written now.
            ReplacedFile: another file has taken its place.
        """
        bounded, marker = bounded_nonce(nonce), content_marker(nonce, content)
        with self._connection() as connection:
            return NonceTables(connection).claim_content(keyid, bounded, marker, now=now, until=until, caps=caps)

    def close(self) -> None:
        """Close the file in this process; the next call opens it again."""
        opened, self._opened = self._opened, _Opened()
        with opened.lock:
            opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _connection(self) -> Generator[sqlite3.Connection]:
        """Yield this process's connection to one thread at a time. After an error, close it; the next call opens it."""
        opened = self._opened
        if opened.process != os.getpid():
            # A connection does not survive a fork, and closing the parent's here would release the parent's locks.
            opened = self._opened = _Opened(inherited=opened)
        if not opened.lock.acquire(timeout=self._timeout):
            raise TimeoutError(f"other threads use {self._path} for longer than {self._timeout} s; raise timeout=")
        try:
            yield self._current(opened)
        except BaseException:
            opened.close()
            raise
        finally:
            opened.lock.release()

    def _current(self, opened: _Opened) -> sqlite3.Connection:
        """Return the open connection to the file that is at the path now.

        Raises:
            sqlite3.Error: there is no file, or it cannot be read.
            ReplacedFile: it is another store.
        """
        try:
            status = self._path.stat()
            file = (status.st_dev, status.st_ino)
        except FileNotFoundError:
            file = None
        if opened.connection is not None and opened.file == file:
            return opened.connection
        opened.close()
        opened.connection, opened.file = self._connect("rw"), file
        if NonceTables(opened.connection).identity() != self._id:
            raise ReplacedFile(f"{self._path} is another replay store than the one opened at the start: restart")
        return opened.connection

    def _connect(self, mode: str) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415 - only programs that use this store load it

        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._survives_power_loss else 'NORMAL'}")
        return connection

    def _prepare(self) -> str:
        """Make the tables if the file is new, and return the store's id."""
        import sqlite3  # noqa: PLC0415 - as above

        try:
            with contextlib.closing(self._connect("rwc")) as connection:
                identity = NonceTables(connection).prepare()
                if identity is None:
                    raise ConfigurationError(
                        f"path: {self._path} is a database, but not a replay store: give another path"
                    )
                mode = write_ahead(connection, seconds=self._timeout)
        except sqlite3.Error as error:
            raise ConfigurationError(f"path: {self._path} cannot be opened as a replay store: {error}") from error
        if mode != "wal":
            raise ConfigurationError(f"path: {self._path} cannot have a write-ahead log there: use a local disk")
        return identity


class _Opened:
    """The connection of one process.

    Attributes:
        process: the process.
        lock: held while a thread uses the connection.
        connection: the connection, or None until it is needed.
        file: the device and the number of the file it was opened for.
        inherited: what the parent process had open, kept so that it is not closed here.
    """

    __slots__ = ("connection", "file", "inherited", "lock", "process")

    def __init__(self, inherited: _Opened | None = None) -> None:
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.connection: sqlite3.Connection | None = None
        self.file: tuple[int, int] | None = None
        self.inherited = inherited

    def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()


def write_ahead(connection: sqlite3.Connection, *, seconds: float) -> str:
    """Ask for a write-ahead log, and return the mode of the journal.

    SQLite does not wait if another process does the same, whatever its timeout is. So this asks again.

    Raises:
        sqlite3.OperationalError: the file is still locked after `seconds`.
    """
    import sqlite3  # noqa: PLC0415 - as above

    end = time.monotonic() + seconds
    while True:
        try:
            ((mode,),) = connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(_PAUSE)
        else:
            return str(mode)

"""A replay store in a SQLite file, for the processes of one host."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from undersigned.errors import ConfigurationError, UndersignedError
from undersigned.fork_safety import PerProcess, ProcessLock
from undersigned.replay.store import bounded_keyid, bounded_nonce, forgettable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator, Mapping

    from undersigned.replay.store import Claim
    from undersigned.signature.rules import Caps

_VERSION: Final = 2
"""The `PRAGMA user_version` of a file with the tables below."""

_SCHEMA: Final = (
    "CREATE TABLE store (id TEXT NOT NULL, live INTEGER NOT NULL, forgotten REAL NOT NULL)",
    "CREATE TABLE sender (id INTEGER PRIMARY KEY, keyid TEXT NOT NULL UNIQUE, live INTEGER NOT NULL)",
    """CREATE TABLE nonce (
        sender INTEGER NOT NULL, nonce TEXT NOT NULL, until REAL NOT NULL, content TEXT, PRIMARY KEY (sender, nonce)
    ) WITHOUT ROWID""",
    "CREATE INDEX nonce_until ON nonce (until)",
    """CREATE TRIGGER claimed AFTER INSERT ON nonce BEGIN
        UPDATE sender SET live = live + 1 WHERE id = new.sender;
        UPDATE store SET live = live + 1;
    END""",
    """CREATE TRIGGER forgotten AFTER DELETE ON nonce BEGIN
        UPDATE sender SET live = live - 1 WHERE id = old.sender;
        DELETE FROM sender WHERE id = old.sender AND live = 0;
        UPDATE store SET live = live - 1, forgotten = max(forgotten, old.until);
    END""",
    f"PRAGMA user_version = {_VERSION}",
)

_FORGET: Final = """
DELETE FROM nonce WHERE (sender, nonce) IN (SELECT sender, nonce FROM nonce WHERE until < ? ORDER BY until LIMIT ?)
"""

_CLAIM: Final = """
INSERT INTO nonce (sender, nonce, until, content)
SELECT sender.id, :nonce, :until, :content FROM sender, store
WHERE sender.keyid = :keyid AND sender.live < :per_key AND store.live < :total AND store.forgotten < :until
ON CONFLICT DO NOTHING
"""

_WHY: Final = """
SELECT CASE
    WHEN nonce.nonce IS NOT NULL THEN iif(nonce.content = :content, 'same', 'seen')
    WHEN store.forgotten >= :until THEN 'forgotten'
    ELSE 'full'
END FROM store LEFT JOIN (
    SELECT nonce, content FROM nonce JOIN sender ON nonce.sender = sender.id WHERE keyid = :keyid AND nonce = :nonce
) AS nonce
"""
"""Why a claim inserted nothing."""

_REPEAT: Final = """
UPDATE nonce SET until = :until
WHERE nonce = :nonce AND sender = (SELECT id FROM sender WHERE keyid = :keyid) AND until < :until
"""

_FULL: Final = """
SELECT coalesce((SELECT live FROM sender WHERE keyid = :keyid), 0) >= :per_key OR live >= :total FROM store
"""

_FEW, _MANY = 16, 1000
"""How many ended nonces each claim deletes, and how many per step if a cap is reached."""

_NO_TOTAL: Final = 2**63 - 1
_LONGEST_TIMEOUT: Final = 3600
_PAUSE: Final = 0.01


class ReplacedFile(UndersignedError):
    """Raised when another file has replaced the opened store. Its nonces may be lost: the operator must act."""


class SqliteReplayStore:
    """A replay store in a file that several processes of one host share. Safe to share between threads.

    You may create it before or after the workers are forked. Each claim is one transaction. If a claim cannot be
    written, it raises an exception and the request gets 503. That happens if the disk is full, or if the file stays
    locked, is damaged or was replaced. The next claim tries again.

    Each claim deletes a few nonces that have ended. A nonce that ends before the latest deleted nonce is answered
    `forgotten`: it may have been deleted. That happens only if a clock was wrong.

    Args:
        path: the file, on a local disk; it is made if it does not exist. SQLite adds two files next to it.
        timeout: the seconds that a call waits while other processes write.
        survives_power_loss: whether each claim waits until it is on the disk. If False, claims are several times faster
            and still survive the end of any process. But a crash of the operating system may lose the last claims. Then
            their nonces could be used again.

    Raises:
        ConfigurationError: the file cannot be opened, or is not a replay store.
    """

    __slots__ = ("_ahead", "_file", "_id", "_lock", "_opened", "_path", "_survives_power_loss", "_timeout")

    blocking = True

    def __init__(self, path: str | os.PathLike[str], *, timeout: float = 5.0, survives_power_loss: bool = True) -> None:
        if not isinstance(timeout, (int, float)) or not 0 < timeout <= _LONGEST_TIMEOUT:
            raise ConfigurationError("timeout: give seconds greater than 0, such as 5, and at most an hour")
        if not isinstance(path, (str, os.PathLike)) or str(path) in {"", ":memory:"}:
            raise ConfigurationError("path: give the path of a file; for one process, use MemoryReplayStore")
        self._path = Path(path).absolute()
        self._timeout = timeout
        self._survives_power_loss = survives_power_loss
        # A clock that goes on as it is if the time of the system is set.
        self._ahead = time.time() - time.monotonic()
        # A thread inside of SQLite during a fork would leave the locks of the library held in the child.
        self._lock = ProcessLock()
        self._opened = PerProcess["list[sqlite3.Connection]"](list)
        with self._lock:
            self._id = self._prepare()
        self._file = self._file_at_path()

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`, after deleting the nonces that have ended.

        Raises:
            sqlite3.Error: the file cannot be read now.
            ReplacedFile: another file has taken its place.
        """
        asked = {"keyid": bounded_keyid(keyid), **_limits(caps)}
        with self._connection() as connection:
            while _answer(connection, _FULL, asked):
                with _transaction(connection):
                    ended = self._forget(connection, now, _MANY)
                if not ended:
                    return True
        return False

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """Remember the pair of key ID and nonce until `until`. This and the two checks are one atomic step.

        Raises:
            sqlite3.Error: the file cannot be written now.
            ReplacedFile: another file has taken its place.
        """
        names = {"keyid": bounded_keyid(keyid), "nonce": bounded_nonce(nonce)}
        asked = {**names, "until": until, "content": content, **_limits(caps)}
        with self._connection() as connection, _transaction(connection):
            ended = self._forget(connection, now, _FEW)
            while True:
                connection.execute("INSERT OR IGNORE INTO sender (keyid, live) VALUES (:keyid, 0)", asked)
                if connection.execute(_CLAIM, asked).rowcount == 1:
                    return "fresh"
                claim: Claim = _answer(connection, _WHY, asked)
                if claim == "same":
                    connection.execute(_REPEAT, asked)
                if claim != "full" or not ended:
                    return claim
                ended = self._forget(connection, now, _MANY)

    def close(self) -> None:
        """Close the file in this process; the next call opens it again."""
        with self._lock:
            _close(self._opened.get())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forget(self, connection: sqlite3.Connection, now: float, most: int) -> int:
        """Delete at most `most` nonces that have ended, and return how many were deleted."""
        return connection.execute(_FORGET, (forgettable(now, self._ahead + time.monotonic()), most)).rowcount

    @contextlib.contextmanager
    def _connection(self) -> Generator[sqlite3.Connection]:
        """Yield this process's connection to one thread at a time. After an error, close it; the next call opens it."""
        if not self._lock.acquire(timeout=self._timeout):
            raise TimeoutError(f"other threads use {self._path} for longer than {self._timeout} s; raise timeout=")
        # A connection does not survive a fork, and closing the parent's here would release the parent's locks.
        opened = self._opened.get()
        try:
            yield self._current(opened)
        except BaseException:
            _close(opened)
            raise
        finally:
            self._lock.release()

    def _current(self, opened: list[sqlite3.Connection]) -> sqlite3.Connection:
        """Return a connection to the file at the path, if it is the file of the start and no copy of it."""
        file = self._file_at_path()
        if file is not None and file != self._file:
            raise ReplacedFile(f"{self._path} is not the file that was opened at the start: restart the process")
        if not opened or file is None:
            _close(opened)
            opened.append(self._connect("rw"))
            if _answer(opened[0], "SELECT id FROM store", {}) != self._id:
                raise ReplacedFile(
                    f"{self._path} is not the replay store that was opened at the start: restart the process"
                )
        return opened[0]

    def _file_at_path(self) -> tuple[int, int] | None:
        """Return the device and the number of the file that is at the path now, or None if there is none."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def _connect(self, mode: str) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415 - only programs that use this store load it

        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._survives_power_loss else 'NORMAL'}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self) -> str:
        """Make the tables if the file is new, and return the store's id."""
        import sqlite3  # noqa: PLC0415 - as above

        try:
            with contextlib.closing(self._connect("rwc")) as connection:
                identity = self._make_tables(connection)
                mode = _write_ahead(connection, seconds=self._timeout)
        except sqlite3.Error as error:
            raise ConfigurationError(f"path: {self._path} cannot be opened as a replay store: {error}") from error
        if mode != "wal":
            raise ConfigurationError(f"path: {self._path} cannot have a write-ahead log there: use a local disk")
        return identity

    def _make_tables(self, connection: sqlite3.Connection) -> str:
        """Make the tables if the file is empty, and return the store's id."""
        with _transaction(connection):
            version = _answer(connection, "PRAGMA user_version", {})
            if version == _VERSION:
                return str(_answer(connection, "SELECT id FROM store", {}))
            if version != 0 or connection.execute("SELECT 1 FROM sqlite_schema").fetchall():
                raise ConfigurationError(f"path: {self._path} is a database, but not a replay store: give another path")
            for statement in _SCHEMA:
                connection.execute(statement)
            identity = os.urandom(16).hex()
            connection.execute("INSERT INTO store VALUES (?, 0, 0)", (identity,))
            return identity


def _close(opened: list[sqlite3.Connection]) -> None:
    while opened:
        opened.pop().close()


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Commit what is written inside. After an error, closing the connection rolls back."""
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("COMMIT")


def _answer(connection: sqlite3.Connection, question: str, asked: Mapping[str, object]) -> Any:
    ((answer,),) = connection.execute(question, asked).fetchall()
    return answer


def _limits(caps: Caps) -> dict[str, object]:
    return {"per_key": caps.per_key, "total": _NO_TOTAL if caps.total is None else caps.total}


def _write_ahead(connection: sqlite3.Connection, *, seconds: float) -> str:
    """Ask for a write-ahead log, and return the mode of the journal.

    SQLite does not wait if another process does the same, whatever its timeout is, so this asks again.
    """
    import sqlite3  # noqa: PLC0415 - as above

    end = time.monotonic() + seconds
    while True:
        try:
            return str(_answer(connection, "PRAGMA journal_mode = WAL", {}))
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(_PAUSE)

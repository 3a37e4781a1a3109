"""The tables of a replay store in SQLite: what the store keeps for each nonce, and the statements that claim one."""

from __future__ import annotations

import contextlib
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator

    from undersigned.replay.store import Claim, ContentClaim
    from undersigned.signature.rules import Caps

_VERSION = 1
"""The `PRAGMA user_version` of a file with the tables below."""

_SCHEMA = (
    "CREATE TABLE store (id TEXT NOT NULL, live INTEGER NOT NULL, forgotten REAL NOT NULL)",
    "CREATE TABLE sender (id INTEGER PRIMARY KEY, keyid TEXT NOT NULL UNIQUE, live INTEGER NOT NULL)",
    """CREATE TABLE nonce (
        sender INTEGER NOT NULL, nonce TEXT NOT NULL, until REAL NOT NULL, PRIMARY KEY (sender, nonce)
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

_FORGET = """
DELETE FROM nonce WHERE (sender, nonce) IN (SELECT sender, nonce FROM nonce WHERE until < ? ORDER BY until LIMIT ?)
"""

_CLAIM = """
INSERT INTO nonce (sender, nonce, until)
SELECT sender.id, :nonce, :until FROM sender, store
WHERE sender.keyid = :keyid AND sender.live < :per_key AND store.live < :total AND store.forgotten < :until
ON CONFLICT DO NOTHING
"""

_SEEN = """
SELECT EXISTS (SELECT 1 FROM nonce JOIN sender ON nonce.sender = sender.id WHERE keyid = :keyid AND nonce = :nonce)
    OR EXISTS (SELECT 1 FROM store WHERE forgotten >= :until)
"""

_KEEP_CONTENT = """
INSERT INTO nonce (sender, nonce, until) SELECT id, :marker, :until FROM sender WHERE keyid = :keyid
ON CONFLICT DO UPDATE SET until = excluded.until
"""

_SAME = """
SELECT EXISTS (
    SELECT 1 FROM sender JOIN nonce ON nonce.sender = sender.id JOIN nonce AS marker ON marker.sender = sender.id
    WHERE keyid = :keyid AND nonce.nonce = :nonce AND marker.nonce = :marker AND marker.until >= nonce.until
)
"""
"""A marker that ends before its nonce is left from a nonce that was deleted."""

_FULL = """
SELECT coalesce((SELECT live FROM sender WHERE keyid = :keyid), 0) >= :per_key OR live >= :total FROM store
"""

_FEW, _MANY = 16, 1000
"""How many ended nonces each claim deletes, and how many per step if a cap is reached."""

_NO_TOTAL = 2**63 - 1


class NonceTables:
    """The tables of a replay store, read and written through one connection.

    Each method that writes is one transaction. If it raises an exception, close the connection: that undoes it.

    Args:
        connection: the connection to the file, without an isolation level.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def identity(self) -> str:
        """Return the store's id.

        Raises:
            sqlite3.Error: the file cannot be read, or has no tables.
        """
        ((found,),) = self._connection.execute("SELECT id FROM store").fetchall()
        return str(found)

    def prepare(self) -> str | None:
        """Make the tables if the file is empty. Return the store's id, or None if the file is another database.

        Raises:
            sqlite3.Error: the file cannot be read or written.
        """
        connection = self._connection
        with _transaction(connection):
            ((version,),) = connection.execute("PRAGMA user_version").fetchall()
            if version == _VERSION:
                return self.identity()
            if version != 0 or connection.execute("SELECT 1 FROM sqlite_schema").fetchall():
                return None
            for statement in _SCHEMA:
                connection.execute(statement)
            made = uuid.uuid4().hex
            connection.execute("INSERT INTO store VALUES (?, 0, 0)", (made,))
            return made

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`, after deleting the nonces that have ended.

        Raises:
            sqlite3.Error: the file cannot be read or written.
        """
        asked = {"keyid": keyid, **_limits(caps)}
        while self._is_true(_FULL, asked):
            with _transaction(self._connection):
                ended = self._forget(now, _MANY)
            if not ended:
                return True
        return False

    def claim(self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps) -> Claim:
        """Remember the pair of keyid and nonce until `until`, if it is new and no cap is reached.

        Raises:
            sqlite3.Error: the file cannot be written.
        """
        with _transaction(self._connection):
            return self._claim({"keyid": keyid, "nonce": nonce, "until": until, **_limits(caps)}, now)

    def claim_content(
        self, keyid: str, nonce: str, marker: str, *, now: float, until: float, caps: Caps
    ) -> ContentClaim:
        """Remember the pair as `claim` does, and the marker of its content. Return "same" if both are known already.

        Raises:
            sqlite3.Error: the file cannot be written.
        """
        asked = {"keyid": keyid, "nonce": nonce, "marker": marker, "until": until, **_limits(caps)}
        with _transaction(self._connection):
            claim = self._claim(asked, now)
            if claim == "fresh":
                self._connection.execute(_KEEP_CONTENT, asked)
            return "same" if claim == "seen" and self._is_true(_SAME, asked) else claim

    def _claim(self, asked: dict[str, object], now: float) -> Claim:
        ended = self._forget(now, _FEW)
        while True:
            self._connection.execute("INSERT OR IGNORE INTO sender (keyid, live) VALUES (:keyid, 0)", asked)
            if self._connection.execute(_CLAIM, asked).rowcount == 1:
                return "fresh"
            if self._is_true(_SEEN, asked):
                return "seen"
            if not ended:
                return "full"
            ended = self._forget(now, _MANY)

    def _forget(self, now: float, most: int) -> int:
        """Delete at most `most` nonces that have ended, and return how many were deleted."""
        return self._connection.execute(_FORGET, (now, most)).rowcount

    def _is_true(self, question: str, asked: dict[str, object]) -> bool:
        ((answer,),) = self._connection.execute(question, asked).fetchall()
        return bool(answer)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Commit what is written inside. After an error, closing the connection rolls back."""
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("COMMIT")


def _limits(caps: Caps) -> dict[str, object]:
    return {"per_key": caps.per_key, "total": _NO_TOTAL if caps.total is None else caps.total}

from __future__ import annotations

import contextlib
import math
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from undersigned import Caps, ConfigurationError
from undersigned.replay import ReplacedFile, SqliteReplayStore

ROOMY = Caps(per_key=1_000_000)
LATER = 100 + 900
"""The time until which what ends at 100 is kept, as these times are far from those of the system."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "replay.sqlite"


@pytest.fixture
def store(path):
    """A store that does not wait for the disk: these tests end processes, not machines."""
    with SqliteReplayStore(path, timeout=0.2, survives_power_loss=False) as opened:
        yield opened


@pytest.fixture
def connections(monkeypatch):
    """The connections that are made during a test, in their order."""
    made, connect = [], sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: made.append(connect(*args, **options)) or made[-1])
    return made


def claim(store, nonce: str, *, keyid: str = "k", now: float = 0, until: float = 360, caps: Caps = ROOMY):
    return store.claim(keyid, nonce, now=now, until=until, caps=caps)


def rows(path) -> int:
    with sqlite3.connect(path) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM nonce").fetchall()
    connection.close()
    return count


@pytest.mark.parametrize(("survives", "level"), [(True, 2), (False, 1)])
def test_store_waits_for_the_disk_only_when_it_survives_power_loss(path, connections, survives, level):
    with SqliteReplayStore(path, survives_power_loss=survives) as store:
        claim(store, "n")
        assert connections[-1].execute("PRAGMA synchronous").fetchall() == [(level,)]
        assert connections[-1].execute("PRAGMA journal_mode").fetchall() == [("wal",)]


def test_closed_store_remembers_its_nonces_and_opens_again(path, store):
    assert claim(store, "n") == "fresh"
    store.close()
    store.close()
    assert claim(store, "n") == "seen"
    with SqliteReplayStore(path) as other:
        assert claim(other, "n") == "seen"


def test_ended_nonces_are_deleted_in_small_steps(path, store):
    for number in range(100):
        claim(store, str(number), until=100)
    claim(store, "later", now=LATER + 1, until=LATER + 400)
    assert rows(path) == 100 - 16 + 1
    for number in range(6):
        claim(store, f"later {number}", now=LATER + 1, until=LATER + 400)
    assert rows(path) == 7


def test_ended_nonces_are_all_deleted_at_a_cap(path, store):
    for number in range(1500):
        claim(store, str(number), keyid="other", until=100)
    for number in range(3):
        claim(store, str(number), until=101)
    caps = Caps(per_key=3)
    assert claim(store, "later", now=LATER + 2, until=LATER + 400, caps=caps) == "fresh"
    assert rows(path) == 1


def test_full_deletes_ended_nonces_at_a_cap(path, store):
    for number in range(1500):
        claim(store, str(number), until=100)
    caps = Caps(per_key=1200)
    assert store.full("k", now=LATER, caps=caps)
    assert not store.full("k", now=LATER + 1, caps=caps)
    assert rows(path) == 500


@pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf, 3601, "5"])
def test_timeout_is_rejected_when_it_is_not_a_positive_number(path, timeout):
    with pytest.raises(ConfigurationError, match="timeout: give seconds greater than 0"):
        SqliteReplayStore(path, timeout=timeout)


@pytest.mark.parametrize("path", ["", ":memory:", None, 7])
def test_path_is_rejected_when_it_names_no_file(path):
    with pytest.raises(ConfigurationError, match="path: give the path of a file"):
        SqliteReplayStore(path)


def test_path_in_a_missing_folder_is_rejected(path):
    with pytest.raises(ConfigurationError, match="cannot be opened as a replay store: unable to open"):
        SqliteReplayStore(path / "absent" / "replay.sqlite")


def test_file_is_rejected_when_it_is_not_a_database(path):
    path.write_bytes(b"nonces of last week\n" * 100)
    with pytest.raises(ConfigurationError, match="cannot be opened as a replay store: file is not a database"):
        SqliteReplayStore(path)


@pytest.mark.parametrize("made", ["CREATE TABLE orders (id)", "PRAGMA user_version = 9"])
def test_foreign_database_is_rejected_and_left_unchanged(path, made):
    connection = sqlite3.connect(path)
    connection.execute(made)
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match="is a database, but not a replay store"):
        SqliteReplayStore(path)
    assert path.read_bytes() == before


def test_file_system_without_a_write_ahead_log_is_rejected(path, monkeypatch):
    class Elsewhere(sqlite3.Connection):
        def execute(self, statement, *arguments):
            return super().execute(statement.replace("= WAL", "= MEMORY"), *arguments)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **options: connect(*given, factory=Elsewhere, **options))
    with pytest.raises(ConfigurationError, match="use a local disk"):
        SqliteReplayStore(path)


@pytest.mark.parametrize(
    "held", [["BEGIN EXCLUSIVE"], ["PRAGMA journal_mode = DELETE", "BEGIN", "SELECT * FROM store"]]
)
def test_new_store_gives_up_on_a_writer_or_reader_that_never_ends(path, held):
    SqliteReplayStore(path).close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as holder:
        for statement in held:
            holder.execute(statement).fetchall()
        with pytest.raises(ConfigurationError, match="cannot be opened as a replay store: database is locked"):
            SqliteReplayStore(path, timeout=0.1)


@pytest.mark.parametrize("ends", [True, False])
def test_new_store_asks_for_the_log_again_while_another_connection_writes(path, monkeypatch, ends):
    other, asked, connect = sqlite3.connect(path, isolation_level=None), [], sqlite3.connect

    class Beside(sqlite3.Connection):
        def execute(self, statement, *args):
            if "journal_mode" in statement:
                asked.append(statement)
                if len(asked) == 1:
                    other.execute("BEGIN IMMEDIATE")
                elif ends and other.in_transaction:
                    other.execute("COMMIT")
            return super().execute(statement, *args)

    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **options, factory=Beside))
    locked = pytest.raises(ConfigurationError, match="cannot be opened as a replay store: database is locked")
    with contextlib.nullcontext() if ends else locked:
        SqliteReplayStore(path, timeout=0.1).close()
    assert len(asked) == 2 if ends else len(asked) > 1
    other.close()


def test_locked_file_raises_until_it_is_free(path, store):
    assert claim(store, "n") == "fresh"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        claim(store, "m")
    assert not store.full("k", now=0, caps=ROOMY)
    holder.execute("ROLLBACK")
    holder.close()
    assert claim(store, "m") == "fresh"
    assert claim(store, "n") == "seen"


def test_threads_do_not_wait_for_each_other_longer_than_the_timeout(store):
    with store._connection(), ThreadPoolExecutor() as pool:
        waiting = pool.submit(claim, store, "n")
        with pytest.raises(TimeoutError, match="other threads use"):
            waiting.result()
    assert claim(store, "n") == "fresh"


def test_damage_within_the_file_forgets_nothing(path, store):
    for number in range(1000):
        assert claim(store, str(number)) == "fresh"
    store.close()
    whole = path.read_bytes()
    for page in range(1, len(whole) // 4096):
        path.write_bytes(whole[: page * 4096] + b"\x00" * 4096 + whole[(page + 1) * 4096 :])
        answers = set()
        for number in range(0, 1000, 50):
            try:
                answers.add(claim(store, str(number)))
            except sqlite3.DatabaseError:
                answers.add("raised")
        store.close()
        assert "fresh" not in answers
    path.write_bytes(whole)
    assert claim(store, "0") == "seen"


def test_file_that_is_gone_raises_until_it_is_back(path, store):
    assert claim(store, "n") == "fresh"
    store.close()
    shutil.move(path, path.with_suffix(".away"))
    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError, match="unable to open"):
            claim(store, "n")
    assert not path.exists()
    shutil.move(path.with_suffix(".away"), path)
    assert claim(store, "n") == "seen"


def test_file_removed_while_it_is_open_raises(path, store):
    assert claim(store, "n") == "fresh"
    for file in path.parent.glob("replay.sqlite*"):
        file.unlink()
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        claim(store, "n")


def test_replaced_file_raises(path, store, tmp_path):
    assert claim(store, "n") == "fresh"
    with SqliteReplayStore(tmp_path / "another.sqlite") as another:
        assert claim(another, "m") == "fresh"
    store.close()
    shutil.move(tmp_path / "another.sqlite", path)
    for _ in range(2):
        with pytest.raises(ReplacedFile, match="is not the file that was opened at the start: restart the process"):
            claim(store, "n")


def test_older_copy_that_takes_the_place_of_the_file_raises(path, store, tmp_path):
    assert claim(store, "before") == "fresh"
    with (
        contextlib.closing(sqlite3.connect(path)) as source,
        contextlib.closing(sqlite3.connect(tmp_path / "c")) as copy,
    ):
        source.backup(copy)
    assert claim(store, "after") == "fresh"
    for name in ("replay.sqlite-wal", "replay.sqlite-shm"):
        (tmp_path / name).unlink()
    (tmp_path / "c").replace(path)
    for _ in range(3):
        with pytest.raises(ReplacedFile, match="is not the file that was opened at the start: restart the process"):
            claim(store, "after")
    with SqliteReplayStore(path) as restarted:
        assert claim(restarted, "before") == "seen"


def test_new_file_with_the_number_of_the_old_one_raises(path, store, monkeypatch):
    """A file system gives the number of a removed file to the next one, which a restarted worker makes."""
    assert claim(store, "n") == "fresh"
    store.close()
    path.unlink()
    SqliteReplayStore(path).close()
    monkeypatch.setattr(store, "_file", store._file_at_path())
    with pytest.raises(ReplacedFile, match="is not the replay store that was opened at the start: restart the process"):
        claim(store, "n")


def test_connection_that_cannot_be_set_up_is_closed(path, store, connections):
    """From Python 3.13 on, one that is left open is a warning."""
    assert claim(store, "n") == "fresh"
    store.close()
    path.write_bytes(b"\xff" * 4096)
    for _ in range(3):
        with pytest.raises(sqlite3.DatabaseError, match="not a database"):
            claim(store, "n")
    for connection in connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


CLAIMS = """
import itertools, sys
from undersigned import Caps
from undersigned.replay import SqliteReplayStore

store = SqliteReplayStore(sys.argv[1], survives_power_loss=False)
for number in itertools.count():
    if store.claim("k", f"{sys.argv[2]} {number}", now=0, until=360, caps=Caps(10**6)) == "fresh":
        print(f"{sys.argv[2]} {number}", flush=True)
"""


def test_claims_of_a_killed_process_are_remembered(path, store):
    for run in range(3):
        program = [sys.executable, "-c", CLAIMS, str(path), str(run)]
        claims = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own words
        said = [claims.stdout.readline().strip() for _ in range(200)]
        claims.kill()
        said += claims.communicate()[0].splitlines()
        assert len(said) >= 200
        assert {claim(store, nonce) for nonce in said} == {"seen"}
        assert claim(store, f"after {run}") == "fresh"

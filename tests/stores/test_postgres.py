from __future__ import annotations

import asyncio
import hashlib
import math
import shutil
import subprocess
import sys
import time

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from tests.stores.servers import PgBouncer, Postgres

from undersigned import Caps, ConfigurationError
from undersigned.replay import NoConnection
from undersigned.testing import check_replay_store
from undersigned_postgres import SCHEMA, AsyncPostgresReplayStore, PostgresReplayStore
from undersigned_postgres.schema import VERSION

ROOMY = Caps(per_key=1_000_000)
LIFE = 360.0
NOW = time.time()


@pytest.fixture(autouse=True)
def now(monkeypatch):
    """Begin each test at a time at which its clock and the server's agree, however long the session takes."""
    monkeypatch.setattr(sys.modules[__name__], "NOW", time.time() // 60 * 60 - 600)


def claim(store, nonce, *, keyid: str = "k", now: float | None = None, until: float | None = None, caps: Caps = ROOMY):
    now = NOW if now is None else now
    return store.claim(keyid, nonce, now=now, until=now + LIFE if until is None else until, caps=caps)


@pytest.fixture
def admin(database):
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


@pytest.fixture
def pool(database):
    with ConnectionPool(database, min_size=1, max_size=4) as opened:
        yield opened


@pytest.fixture
def store(pool):
    return PostgresReplayStore(pool, timeout=5)


def count(admin, table: str) -> int:
    return admin.execute(f"SELECT count(*) FROM undersigned_{table}").fetchone()[0]  # noqa: S608 - our own words


def test_schema_is_written_for_psql_and_may_be_run_again(admin, store):
    written = subprocess.run([sys.executable, "-m", "undersigned_postgres"], check=True, capture_output=True, text=True)
    assert written.stdout == SCHEMA
    assert claim(store, "n") == "fresh"
    admin.execute(SCHEMA)
    assert claim(store, "n") == "seen"


def test_tables_may_be_in_a_schema_of_their_own(database, admin):
    admin.execute("CREATE SCHEMA replay; SET search_path TO replay")
    admin.execute(SCHEMA)
    with ConnectionPool(f"{database} options='-c search_path=replay'", min_size=1) as pool:
        assert claim(PostgresReplayStore(pool), "n") == "fresh"
    assert admin.execute("SELECT count(*) FROM replay.undersigned_nonce").fetchone() == (1,)


@pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="apt-get install pgbouncer")
@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_contract_holds_behind_pgbouncer(postgres_server, database, mode):
    with PgBouncer(postgres_server, mode) as bouncer:
        there = database.replace(f"port={postgres_server.port}", f"port={bouncer.port}")
        with ConnectionPool(there, min_size=4, max_size=8) as pool:
            check_replay_store(PostgresReplayStore(pool, timeout=10))


def test_database_without_the_schema_raises(postgres_server):
    with ConnectionPool(postgres_server.conninfo(), min_size=1) as pool:
        store = PostgresReplayStore(pool)
        install = "does not exist.*; install the tables and functions of this release: python -m undersigned_postgres"
        with pytest.raises(psycopg.OperationalError, match=f"(?s)function undersigned_forget.*{install}"):
            claim(store, "n")
        with pytest.raises(psycopg.OperationalError, match="function undersigned_full"):
            store.full("k", now=NOW, caps=ROOMY)


def test_database_with_another_version_of_the_schema_is_rejected_at_the_first_claim(admin, store):
    admin.execute(SCHEMA.replace("its_version <> 4", "its_version <> 5").replace("have version 4", "have version 5"))
    with pytest.raises(
        psycopg.OperationalError, match="have version 5, and this release of undersigned needs version 4"
    ):
        claim(store, "n")
    admin.execute(SCHEMA)
    assert claim(store, "n") == "fresh"


def test_schema_has_the_version_that_its_calls_name():
    """A change of the schema needs another number, in `schema.sql` and in `schema.VERSION`."""
    assert f"its_version <> {VERSION} " in SCHEMA
    assert (VERSION, hashlib.sha256(SCHEMA.encode()).hexdigest()[:16]) == (4, "dc80a1e7c6803d06")


def test_pool_without_a_free_connection_is_named(database):
    with ConnectionPool(database, min_size=1, max_size=1) as pool:
        store = PostgresReplayStore(pool, timeout=0.2)
        with pool.connection(), pytest.raises(NoConnection, match="no connection of the pool was free"):
            claim(store, "n")
        assert claim(PostgresReplayStore(pool, timeout=60), "n") == "fresh"


def test_asynchronous_pool_without_a_free_connection_is_named(database):
    async def checked() -> None:
        async with AsyncConnectionPool(database, min_size=1, max_size=1, max_waiting=1) as pool:
            store = AsyncPostgresReplayStore(pool, timeout=0.2)
            async with pool.connection():
                results = await asyncio.gather(*[claim(store, "n") for _ in range(3)], return_exceptions=True)
                assert [type(result) for result in results] == [NoConnection] * 3
            assert await claim(AsyncPostgresReplayStore(pool, timeout=60), "n") == "fresh"

    asyncio.run(checked())


@pytest.mark.parametrize("autocommit", [True, False])
def test_claim_is_committed_before_it_is_answered(database, admin, autocommit):
    with ConnectionPool(database, min_size=1, kwargs={"autocommit": autocommit}) as pool:
        assert claim(PostgresReplayStore(pool), "n") == "fresh"
        assert count(admin, "nonce") == 1


def test_claim_is_written_to_disk_whatever_the_session_setting(database):
    with ConnectionPool(f"{database} options='-c synchronous_commit=off'", min_size=1) as pool:
        assert claim(PostgresReplayStore(pool), "n") == "fresh"
        with pool.connection() as connection, connection.transaction():
            connection.execute("SELECT undersigned_claim('k', 'm', 0, 360, 10, NULL, NULL)")
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


def test_another_isolation_level_raises(database):
    options = "options='-c default_transaction_isolation=serializable'"
    with (
        ConnectionPool(f"{database} {options}", min_size=1) as pool,
        pytest.raises(psycopg.OperationalError, match="needs the isolation level read committed"),
    ):
        claim(PostgresReplayStore(pool), "n")


def test_ended_nonces_are_deleted_every_ten_seconds(admin, store):
    for number in range(20):
        claim(store, str(number), caps=Caps(100, 100))
    claim(store, "later", now=NOW + LIFE + 9, until=NOW + 2 * LIFE)
    assert count(admin, "nonce") == 1
    claim(store, "short", now=NOW + LIFE + 10, until=NOW + LIFE + 10, caps=Caps(100, 100))
    claim(store, "soon", now=NOW + LIFE + 15)
    assert count(admin, "nonce") == 3
    claim(store, "at last", now=NOW + LIFE + 60)
    assert count(admin, "nonce") == 3
    assert admin.execute("SELECT scope FROM undersigned_count").fetchall() == [("key k",)] * 2
    assert admin.execute("SELECT until FROM undersigned_forgotten").fetchone() == (NOW + LIFE + 10,)


def test_ended_nonces_that_one_deletion_leaves_are_deleted_by_later_claims(admin, store):
    admin.execute(
        "INSERT INTO undersigned_nonce SELECT 'k', number::text, %s FROM generate_series(1, 25000) AS number", [NOW]
    )
    for left in (15000, 5000, 0, 0):
        claim(store, f"{left}", now=NOW + 1)
        assert (
            count(admin, "nonce")
            - admin.execute("SELECT count(*) FROM undersigned_nonce WHERE until > %s", [NOW + 1]).fetchone()[0]
            == left
        )


def test_readiness_check_by_a_wrong_clock_makes_the_store_forget_nothing(admin, database, pool, store):
    """The worker of another host asks every minute whether it is ready. Its clock is a day ahead."""

    async def check_ready(now: float) -> None:
        async with AsyncConnectionPool(database, min_size=1) as other:
            await AsyncPostgresReplayStore(other, timeout=60).claim(".ready", repr(now), now=now, until=now, caps=ROOMY)

    assert claim(store, "n") == "fresh"
    day_ahead = [NOW + 86_400 + 60 * minute for minute in range(30)]
    for now in day_ahead:
        assert claim(PostgresReplayStore(pool, timeout=60), repr(now), keyid=".ready", now=now, until=now) == "fresh"
    asyncio.run(check_ready(day_ahead[-1] + 60))
    assert claim(store, "n") == "seen"
    assert claim(PostgresReplayStore(pool, timeout=60), "m", keyid="other", until=NOW + 1) == "fresh"
    admin.execute(SCHEMA.replace("its_version <> 4", "its_version <> 5"))
    with pytest.raises(psycopg.OperationalError, match="needs version 4"):
        claim(store, "later", keyid=".ready", until=NOW)


def test_two_sessions_do_not_delete_at_once(admin, database):
    admin.execute("INSERT INTO undersigned_nonce VALUES ('k', 'n', 1)")
    with psycopg.connect(database) as other:
        assert other.execute("SELECT undersigned_forget(2000, 10, 4)").fetchone() == (1,)
        assert admin.execute("SELECT undersigned_forget(2000, 10, 4)").fetchone() == (0,)


def test_replay_is_detected_while_its_nonce_is_being_deleted(admin, database, store):
    """A verifier whose clock is slow asks while one whose clock is fast has deleted, and not yet committed."""
    assert claim(store, "n") == "fresh"
    with psycopg.connect(database) as other:
        assert other.execute("SELECT undersigned_forget(%s, 10, 4)", [NOW + LIFE + 1]).fetchone() == (1,)
        assert claim(store, "n") == "seen"
        other.commit()
    assert claim(store, "n") == "forgotten"
    assert count(admin, "nonce") == 0


def test_key_that_stays_locked_raises(database, store):
    with psycopg.connect(database) as other:
        other.execute("SELECT undersigned_claim('k', 'n', 0, 360, 10, NULL, NULL)")
        with pytest.raises(psycopg.OperationalError, match="lock timeout"):
            claim(store, "n")
        assert claim(store, "n", keyid="another") == "fresh"
    assert claim(store, "m") == "fresh"


@pytest.mark.parametrize(
    "call",
    [
        "undersigned_full('k', 0, 10, NULL)",
        "undersigned_claim('k', 'n', 0, 360, 10, NULL, NULL)",
        "undersigned_forget(0, 10, 4)",
    ],
)
def test_session_of_a_process_that_gave_up_does_not_wait_for_a_locked_table(database, call):
    """A caller that waits too long closes its connection, and the server does not notice while it waits for a lock."""
    with psycopg.connect(database) as other, psycopg.connect(database, autocommit=True) as asking:
        other.execute("LOCK TABLE undersigned_nonce, undersigned_count IN ACCESS EXCLUSIVE MODE")
        asking.execute("SET statement_timeout = '60s'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            asking.execute(f"SELECT {call}")


def test_tasks_of_one_key_leave_connections_for_another(database):
    async def checked() -> None:
        async with AsyncConnectionPool(database, min_size=3, max_size=3) as pool:
            await pool.wait()
            store = AsyncPostgresReplayStore(pool, timeout=60)
            assert await claim(store, "first") == "fresh"
            many = [asyncio.ensure_future(claim(store, str(number))) for number in range(20)]
            assert await claim(store, "n", keyid="another") == "fresh"
            assert set(await asyncio.gather(*many)) == {"fresh"}
            assert "requests_queued" not in pool.get_stats()

    asyncio.run(checked())


def test_task_that_waits_too_long_for_others_of_its_key_raises(database):
    async def checked() -> None:
        async with AsyncConnectionPool(database, min_size=4) as pool:
            store = AsyncPostgresReplayStore(pool, timeout=0.2)
            raised = await asyncio.gather(*[claim(store, str(number)) for number in range(8)], return_exceptions=True)
            assert {type(one) for one in raised} <= {NoConnection, psycopg.OperationalError}
            assert "claims of the same key" in str(raised)

    with psycopg.connect(database) as other:
        other.execute("SELECT undersigned_claim('k', 'held', 0, 360, 10, NULL, NULL)")
        asyncio.run(checked())


def test_truncated_tables_do_not_disarm_the_guard_against_a_clock_that_was_ahead(admin, pool, store):
    admin.execute("TRUNCATE undersigned_nonce, undersigned_count, undersigned_forgotten")
    assert count(admin, "forgotten") == 0
    # The clock is 500 seconds ahead: this one ends, is deleted, and is replayed when the clock is right again.
    assert claim(store, "old", until=NOW + 60) == "fresh"
    assert claim(PostgresReplayStore(pool, timeout=5), "new", now=NOW + 500) == "fresh"
    assert count(admin, "nonce") == 1
    assert claim(store, "old", until=NOW + 60) == "forgotten"
    assert claim(store, "next", until=NOW + 360) == "fresh"


@pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf, 3601, "2"])
def test_timeout_is_rejected_when_it_is_not_a_positive_number(pool, timeout):
    with pytest.raises(ConfigurationError, match="timeout: give seconds greater than 0"):
        PostgresReplayStore(pool, timeout=timeout)


@pytest.mark.parametrize("store", [PostgresReplayStore, AsyncPostgresReplayStore])
@pytest.mark.parametrize("pool", [None, "host=127.0.0.1"])
def test_value_is_rejected_when_it_is_not_a_pool(store, pool):
    with pytest.raises(ConfigurationError, match="pool: pass a psycopg_pool"):
        store(pool)


def test_pool_of_the_other_kind_is_rejected_with_the_right_store(pool):
    with pytest.raises(ConfigurationError, match=r"pool: pass a psycopg_pool\.AsyncConnectionPool"):
        AsyncPostgresReplayStore(pool)


def test_large_query_is_written_in_parts(store, database):
    given = {"now": NOW, "until": NOW + LIFE, "caps": ROOMY, "content": "c" * 20_000_000}
    assert store.claim("k", "n", **given) == "fresh"

    async def again() -> None:
        async with AsyncConnectionPool(database, min_size=1) as pool:
            assert await AsyncPostgresReplayStore(pool, timeout=20).claim("k", "n", **given) == "same"

    asyncio.run(again())


def test_asynchronous_store_raises_while_the_server_is_paused_and_recovers():
    async def checked(server) -> None:
        async with AsyncConnectionPool(server.conninfo(), min_size=2, max_size=2) as pool:
            store = AsyncPostgresReplayStore(pool, timeout=0.3)
            assert await claim(store, "n") == "fresh"
            server.pause()
            for _ in range(4):
                with pytest.raises((psycopg.OperationalError, NoConnection), match=r"within 0\.3 s"):
                    await claim(store, "n")
            server.resume()
            while True:
                try:
                    assert await claim(store, "n") == "seen"
                except (psycopg.OperationalError, NoConnection):
                    await asyncio.sleep(0.1)
                else:
                    break
            assert await claim(store, "m") == "fresh"

    with Postgres() as server:
        with psycopg.connect(server.conninfo()) as connection:
            connection.execute(SCHEMA)
        asyncio.run(checked(server))

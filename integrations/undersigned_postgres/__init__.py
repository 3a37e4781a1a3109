"""A replay store in PostgreSQL, for the processes of several hosts.

`PostgresReplayStore(pool)` takes a pool of psycopg 3, and `AsyncPostgresReplayStore(pool)` takes its asyncio pool. The
tables and functions are in `SCHEMA`: `python -m undersigned_postgres | psql` creates them.
"""

from undersigned.errors import needs_extra
from undersigned_postgres.schema import SCHEMA

with needs_extra("postgres"):
    from undersigned_postgres.store import AsyncPostgresReplayStore, PostgresReplayStore

__all__ = ["SCHEMA", "AsyncPostgresReplayStore", "PostgresReplayStore"]

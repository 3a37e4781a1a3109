"""A replay store in PostgreSQL, for the processes of several hosts.

`PostgresReplayStore(pool)` takes a pool of psycopg 3, and `AsyncPostgresReplayStore(pool)` takes its asyncio pool. The
tables and functions are in `SCHEMA`: `python -m undersigned_postgres | psql` creates them.
"""

from undersigned.errors import missing_extra
from undersigned_postgres.schema import SCHEMA

try:
    from undersigned_postgres.store import AsyncPostgresReplayStore, PostgresReplayStore
except ModuleNotFoundError as missing:
    raise missing_extra("postgres", missing) from missing

__all__ = ["SCHEMA", "AsyncPostgresReplayStore", "PostgresReplayStore"]

"""Stores that run for a whole session of tests."""

from __future__ import annotations

import psycopg
import pytest
from tests.stores.servers import Cluster, Postgres, Redis, Valkey

from undersigned_postgres import SCHEMA


@pytest.fixture(scope="session")
def redis_server():
    with Redis() as server:
        yield server


@pytest.fixture(scope="session")
def valkey_server():
    with Valkey() as server:
        yield server


@pytest.fixture(scope="session")
def cluster():
    with Cluster() as nodes:
        yield nodes


@pytest.fixture(scope="session")
def postgres_server():
    with Postgres() as server:
        yield server


@pytest.fixture
def database(postgres_server):
    """A database of one test, with the schema; its connection string."""
    with psycopg.connect(postgres_server.conninfo(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS store WITH (FORCE)")
        connection.execute("CREATE DATABASE store")
    conninfo = postgres_server.conninfo().replace("dbname=postgres", "dbname=store")
    with psycopg.connect(conninfo) as connection:
        connection.execute(SCHEMA)
    return conninfo

"""One function call over a connection of psycopg, within a time limit.

psycopg waits without a limit, even for a server that hangs. The calls go through psycopg's wrapper of libpq. Each
call is one round trip and one transaction, whatever the pool's autocommit is. It is committed when the answer is
complete.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from typing import TYPE_CHECKING

from psycopg import OperationalError, pq

if TYPE_CHECKING:
    from collections.abc import Generator

    from psycopg.pq.abc import PGconn, PGresult

    from undersigned_postgres.schema import Call

_MISSING = {b"42883", b"42P01"}
"""The states of a call whose function or table is not in the database."""

_INSTALL = "; install the tables and functions of this release: python -m undersigned_postgres | psql"


def ask(connection: PGconn, call: Call, *, timeout: float) -> str:
    """Return the single value that `call` returns.

    Raises:
        psycopg.OperationalError: the server rejects the call, hangs, or is gone.
    """
    deadline, exchange = time.monotonic() + timeout, _exchange(connection, call)
    with selectors.DefaultSelector() as selector:
        try:
            while True:
                selector.register(connection.socket, next(exchange))
                if not selector.select(max(0, deadline - time.monotonic())):
                    raise _too_slow(timeout)
                selector.unregister(connection.socket)
        except StopIteration as done:
            return str(done.value)


async def ask_async(connection: PGconn, call: Call, *, timeout: float) -> str:  # noqa: ASYNC109 - as `ask`
    """Return the single value that `call` returns; see `ask`."""
    loop, exchange = asyncio.get_running_loop(), _exchange(connection, call)
    try:
        async with asyncio.timeout(timeout):
            while True:
                await _ready(loop, connection.socket, next(exchange))
    except StopIteration as done:
        return str(done.value)
    except TimeoutError:
        raise _too_slow(timeout) from None


async def _ready(loop: asyncio.AbstractEventLoop, socket: int, event: int) -> None:
    ready = asyncio.Event()
    is_read = event == selectors.EVENT_READ
    add, remove = (loop.add_reader, loop.remove_reader) if is_read else (loop.add_writer, loop.remove_writer)
    add(socket, ready.set)
    try:
        await ready.wait()
    finally:
        remove(socket)


def _exchange(connection: PGconn, call: Call) -> Generator[int, None, str]:
    """Send `call`, yield what to wait for, and read until the server is ready again: only then is it committed."""
    connection.send_query_params(call.statement, call.arguments)
    while connection.flush():
        yield selectors.EVENT_WRITE
    results: list[PGresult] = []
    while True:
        while connection.is_busy():
            yield selectors.EVENT_READ
            connection.consume_input()
        result = connection.get_result()
        if result is None:
            break
        results.append(result)
    for result in results:
        if result.status != pq.ExecStatus.TUPLES_OK:
            missing = result.error_field(pq.DiagnosticField.SQLSTATE) in _MISSING
            raise OperationalError(f"{pq.error_message(result)}{_INSTALL if missing else ''}")
    return (results[0].get_value(0, 0) or b"").decode("ascii")


def _too_slow(timeout: float) -> OperationalError:
    return OperationalError(f"the server did not answer within {timeout} s")

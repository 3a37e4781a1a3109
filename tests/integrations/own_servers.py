"""The servers of aiohttp, Tornado and Sanic, each in a thread of this process."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from aiohttp import web
from sanic import Sanic
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from contextlib import AbstractContextManager


@contextlib.contextmanager
def on_a_loop(start: Callable[[], Awaitable[tuple[int, Callable[[], Awaitable[object]]]]]) -> Iterator[int]:
    """Run a server on a loop of its own in a thread: `start` returns its port, and what ends it; yields the port."""
    loop, stop, port = asyncio.new_event_loop(), asyncio.Event(), Future[int]()

    async def serve() -> None:
        try:
            started, end = await start()
        except BaseException as error:
            port.set_exception(error)
            raise
        port.set_result(started)
        await stop.wait()
        await end()
        # A transport that is being closed still needs some turns of the loop.
        for _ in range(10):
            await asyncio.sleep(0)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    try:
        yield port.result(60)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()


def aiohttp_server(app: web.Application) -> AbstractContextManager[int]:
    """Serve an application by aiohttp in a thread; yields the port."""

    async def start():
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner.addresses[0][1], runner.cleanup

    return on_a_loop(start)


def tornado_server(app, **options) -> AbstractContextManager[int]:
    """Serve an application by Tornado in a thread; yields the port."""

    async def start():
        server, sockets = HTTPServer(app, **options), bind_sockets(0, "127.0.0.1")
        server.add_sockets(sockets)

        async def end() -> None:
            server.stop()
            await server.close_all_connections()

        return sockets[0].getsockname()[1], end

    return on_a_loop(start)


_names = itertools.count()


def sanic_app(kind: type[Sanic] = Sanic) -> Sanic:
    """Make an application of Sanic with a name of its own."""
    app = kind(f"tests{next(_names)}", configure_logging=False)
    # Sanic rewrites its classes for the first application of a process.
    app.config.TOUCHUP = False
    return app


def sanic_server(app: Sanic) -> AbstractContextManager[int]:
    """Serve an application by Sanic in a thread; yields the port."""

    async def start():
        bound = socket.create_server(("127.0.0.1", 0))
        server = await app.create_server(sock=bound, return_asyncio_server=True, access_log=False)
        await server.startup()
        await server.start_serving()

        async def end() -> None:
            server.close()
            await server.wait_closed()
            bound.close()

        return bound.getsockname()[1], end

    return on_a_loop(start)

"""Real servers on loopback, and a client that sends exactly the bytes it is given."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import uvicorn
from gunicorn.app.base import BaseApplication
from waitress.server import create_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path


@dataclass
class Running:
    """A server in a thread of this process, kept for the next app: to start one costs more than most tests."""

    port: int
    stop: Callable[[], None]
    app: Callable | None = None


_idle: dict[tuple, list[Running]] = {}


@contextlib.contextmanager
def _serving(app, start: Callable[..., Running], **options) -> Iterator[int]:
    idle = _idle.setdefault((start, *sorted(options.items())), [])
    running = idle.pop() if idle else start(**options)
    running.app = app
    try:
        yield running.port
    finally:
        running.app = None
        idle.append(running)


def stop_idle_servers() -> None:
    """Stop every server that serves no app now."""
    for idle in _idle.values():
        while idle:
            idle.pop().stop()


def uvicorn_server(app, *, http: str = "h11", **options) -> AbstractContextManager[int]:
    """Serve an ASGI app by uvicorn in a thread; yields the port."""
    return _serving(app, _start_uvicorn, http=http, **options)


def _start_uvicorn(app=None, *, lifespan: str = "off", **options) -> Running:
    async def current(scope, receive, send) -> None:
        await (app or running.app)(scope, receive, send)

    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(current, lifespan=lifespan, log_level="critical", access_log=False, **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server does not start"
        threading.Event().wait(0.005)

    def stop() -> None:
        # Without the second, it waits for clients that keep a connection.
        server.should_exit = server.force_exit = True
        thread.join(20)
        bound.close()

    running = Running(bound.getsockname()[1], stop)
    return running


@contextlib.contextmanager
def https_server(app, pem: Path, *, lifespan: str = "off") -> Iterator[int]:
    """Serve an ASGI app by uvicorn over https, with the certificate and key in `pem`; yields the port."""
    server = _start_uvicorn(app, ssl_certfile=pem, lifespan=lifespan)
    try:
        yield server.port
    finally:
        server.stop()


def waitress_server(app, **options) -> AbstractContextManager[int]:
    """Serve a WSGI app by waitress in a thread; yields the port."""
    return _serving(app, _start_waitress, **options)


def _start_waitress(**options) -> Running:
    def current(environ, start_response):
        return running.app(environ, start_response)

    sockets: dict = {}
    server = create_server(current, map=sockets, host="127.0.0.1", port=0, threads=2, **options)
    stopped = threading.Event()

    def serve() -> None:
        while not stopped.is_set():
            server.asyncore.loop(timeout=0.05, map=sockets, count=1)
        server.task_dispatcher.shutdown()
        for opened in tuple(sockets.values()):
            opened.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()

    def stop() -> None:
        stopped.set()
        thread.join(10)

    running = Running(int(server.effective_port), stop)
    return running


@contextlib.contextmanager
def gunicorn_server(app, **options) -> Iterator[int]:
    """Serve a WSGI app by gunicorn's own worker in a child process of this one; yields the port."""
    # A process with threads had better not fork.
    stop_idle_servers()
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.listen()
    child = multiprocessing.get_context("fork").Process(target=_gunicorn, args=(app, bound.fileno(), options))
    child.start()
    try:
        yield bound.getsockname()[1]
    finally:
        # It takes a fifth of a second to end. Nobody waits for it: multiprocessing does when the tests end.
        child.terminate()
        bound.close()


def _gunicorn(app, fileno: int, options: dict) -> None:
    class Server(BaseApplication):
        def load_config(self) -> None:
            settings = {"bind": [f"fd://{fileno}"], "loglevel": "critical", "worker_class": "sync", **options}
            for name, value in settings.items():
                self.cfg.set(name, value)

        def load(self):
            return app

    Server().run()

"""Real servers on loopback, and a client that sends exactly the bytes it is given."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import socket
import threading
from typing import TYPE_CHECKING

import uvicorn
from gunicorn.app.base import BaseApplication
from waitress.server import create_server

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def uvicorn_server(app, *, http: str = "h11", **options) -> Iterator[int]:
    """Serve an ASGI app by uvicorn in a thread; yields the port."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, http=http, lifespan="off", log_level="critical", access_log=False, **options
    )
    server = uvicorn.Server(config)
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])), daemon=True)
    thread.start()
    while not server.started:
        threading.Event().wait(0.005)
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)
        bound.close()


@contextlib.contextmanager
def waitress_server(app, **options) -> Iterator[int]:
    """Serve a WSGI app by waitress in a thread; yields the port."""
    sockets: dict = {}
    server = create_server(app, map=sockets, host="127.0.0.1", port=0, threads=2, **options)
    stopped = threading.Event()

    def serve() -> None:
        while not stopped.is_set():
            server.asyncore.loop(timeout=0.05, map=sockets, count=1)
        server.task_dispatcher.shutdown()
        for opened in tuple(sockets.values()):
            opened.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server.effective_port
    finally:
        stopped.set()
        thread.join(10)


@contextlib.contextmanager
def gunicorn_server(app, **options) -> Iterator[int]:
    """Serve a WSGI app by gunicorn's own worker in a child process of this one; yields the port."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.listen()
    child = multiprocessing.get_context("fork").Process(target=_gunicorn, args=(app, bound.fileno(), options))
    child.start()
    try:
        yield bound.getsockname()[1]
    finally:
        child.terminate()
        child.join(10)
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


def exchange(port: int, raw: bytes, *, timeout: float = 10, shut: bool = False) -> bytes:
    """Send `raw` and return everything the server answers until it closes or says no more."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(raw)
        if shut:
            connection.shutdown(socket.SHUT_WR)
        return read_response(connection)


def read_response(connection: socket.socket) -> bytes:
    """Read one response: its head, and as much content as Content-Length says, or up to the end."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65536)
        if not chunk:
            return received
        received += chunk
    head, _, content = received.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), None
    )
    while length is None or len(content) < length:
        chunk = connection.recv(65536)
        if not chunk:
            break
        content += chunk
    return head + b"\r\n\r\n" + content

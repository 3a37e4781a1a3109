"""Servers: real servers, each in its own thread, on a loopback port that the system chooses."""

from __future__ import annotations

import logging
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, cast

import uvicorn
from waitress import wasyncore
from waitress.server import create_server

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from fastapi import FastAPI
    from flask import Flask
    from waitress.task import ThreadedTaskDispatcher


@contextmanager
def uvicorn_server(app: Callable[[str], FastAPI]) -> Generator[str]:
    """Serve the application of `app` for an origin by uvicorn until the block ends; yields the origin."""
    with _listening() as (listener, origin):
        config = uvicorn.Config(
            app(origin), http="h11", ws="none", lifespan="off", log_config=None, log_level="critical", access_log=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="uvicorn")
        thread.start()
        try:
            yield origin
        finally:
            server.should_exit = True
            thread.join()


class _Trigger(Protocol):
    def pull_trigger(self, thunk: Callable[[], None]) -> None: ...


class _WaitressServer(Protocol):
    """The server for one socket, as waitress makes it. The published stubs lack the trigger."""

    trigger: _Trigger
    task_dispatcher: ThreadedTaskDispatcher

    def run(self) -> None: ...


@contextmanager
def waitress_server(app: Callable[[str], Flask]) -> Generator[str]:
    """Serve the application of `app` for an origin by waitress until the block ends; yields the origin."""
    # Without a handler, logging would write the warnings of waitress to standard error.
    logging.getLogger("waitress").addHandler(logging.NullHandler())
    with _listening() as (listener, origin):
        channels: dict[int, socket.socket] = {}
        server = cast("_WaitressServer", create_server(app(origin), map=channels, sockets=[listener]))
        thread = threading.Thread(target=server.run, name="waitress")
        thread.start()
        try:
            yield origin
        finally:
            # The loop ends when it has no channel left, and only its own thread may close a channel. That includes the
            # trigger, which a running loop must not close during `pull_trigger`.
            pulled = threading.Event()

            def close() -> None:
                pulled.wait()
                wasyncore.close_all(channels)

            server.trigger.pull_trigger(close)
            pulled.set()
            thread.join()
            server.task_dispatcher.shutdown()


@contextmanager
def _listening() -> Generator[tuple[socket.socket, str]]:
    """Listen before the server starts, so that the port stays reserved and early clients wait."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener, f"http://127.0.0.1:{listener.getsockname()[1]}"

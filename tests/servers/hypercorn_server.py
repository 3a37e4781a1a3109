"""hypercorn in this process, over HTTP/1.1, and over HTTP/2 with prior knowledge or over TLS."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from typing import TYPE_CHECKING

from hypercorn.asyncio import serve
from hypercorn.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def hypercorn(app, bound: socket.socket | None = None, *, certificate: Path | None = None) -> Iterator[int]:
    """Serve an application by hypercorn in a thread, on a bound socket of its own or a given one; yields the port.

    With a certificate, it serves over TLS and offers HTTP/2.
    """
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    bound = bound or socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    config = Config()
    config.certfile = config.keyfile = None if certificate is None else str(certificate)
    # hypercorn closes it.
    config.bind = [f"fd://{bound.detach()}"]
    serving = serve(app, config, shutdown_trigger=stop.wait)
    thread = threading.Thread(target=lambda: loop.run_until_complete(serving), daemon=True)
    thread.start()
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()

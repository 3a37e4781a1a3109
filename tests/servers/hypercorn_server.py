"""hypercorn in this process, over HTTP/1.1, and over HTTP/2 with prior knowledge or over TLS."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from hypercorn.asyncio import serve
from hypercorn.config import Config
from tests.integrations.own_servers import on_a_loop

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path


def hypercorn(
    app, bound: socket.socket | None = None, *, certificate: Path | None = None
) -> AbstractContextManager[int]:
    """Serve an application by hypercorn in a thread, on a bound socket of its own or a given one; yields the port.

    With a certificate, it serves over TLS and offers HTTP/2.
    """
    listening = bound or socket.create_server(("127.0.0.1", 0))
    port, config = listening.getsockname()[1], Config()
    config.certfile = config.keyfile = None if certificate is None else str(certificate)

    async def start():
        # hypercorn closes it.
        config.bind = [f"fd://{listening.detach()}"]
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(app, config, shutdown_trigger=stop.wait))

        async def end() -> None:
            stop.set()
            await serving

        return port, end

    return on_a_loop(start)

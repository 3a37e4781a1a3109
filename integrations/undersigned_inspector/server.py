"""The server of the page: uvicorn on 127.0.0.1, which logs nothing."""

from __future__ import annotations

import secrets
import socket
from typing import TYPE_CHECKING

import uvicorn

from .page import page

if TYPE_CHECKING:
    from .kept import KeptDecisions


class PageServer:
    """A server of the page on 127.0.0.1. It listens from the start, and answers once `run` is called.

    Args:
        port: the port, or 0 for any that is free.
        decisions: the decisions that the page shows, or None.

    Attributes:
        url: the URL of the page, with its token.

    Raises:
        OSError: the port is in use.
    """

    def __init__(self, *, port: int = 0, decisions: KeptDecisions | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", port))
        bound: int = self._listener.getsockname()[1]
        token = secrets.token_urlsafe(16)
        self.url = f"http://127.0.0.1:{bound}/{token}/"
        config = uvicorn.Config(
            page(token=token, port=bound, decisions=decisions),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Answer requests until `stop` is called or, in the main thread, the process is interrupted."""
        with self._listener:
            self._server.run(sockets=[self._listener])

    def stop(self) -> None:
        """End `run` soon."""
        self._server.should_exit = True

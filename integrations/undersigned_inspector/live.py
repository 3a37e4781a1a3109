"""The inspector of an application in development: its decisions, on a page of their own."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from undersigned import ConfigurationError

from .kept import KeptDecisions

if TYPE_CHECKING:
    from undersigned import Decision

    from .kept import Inspected
    from .server import PageServer

logger = logging.getLogger("undersigned")

LAST_PORT = 65_535


class Inspector:
    """An inspector that shows the last decisions of an application on a page: `on_decision=Inspector()`.

    It is for development: it ignores an application unless all of its origins are loopback origins. It keeps no
    content, and masks the values of header fields and query parameters that look like credentials.

    The page is served by a thread of the application's process, on 127.0.0.1 and another port than the application. So
    it works for ASGI and WSGI, needs no route, and no request for it is verified or shown. The thread starts with the
    first decision. Only then is it known which process serves: a server may start others, or start again after a
    change. The log then has the URL of the page.

    Args:
        most: how many decisions are kept; the oldest is dropped first.
        port: the port of the page, or 0 for any that is free.

    Raises:
        ConfigurationError: an argument has a wrong value, or the extra `inspect` is not installed.
    """

    def __init__(self, *, most: int = 200, port: int = 0) -> None:
        self._kept = KeptDecisions(most=most)
        if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port <= LAST_PORT:
            raise ConfigurationError("port: give the number of a port, or 0 for any that is free")
        try:
            from .server import PageServer  # noqa: PLC0415 - the command that shows this module's help needs no server
        except ImportError:
            raise ConfigurationError("inspector: its page needs pip install 'undersigned[inspect]'") from None
        self._make_server = PageServer
        self._port = port
        self._starting = threading.Lock()
        self._has_warned = False
        self._process: int | None = None
        self._server: PageServer | None = None

    @property
    def url(self) -> str | None:
        """The URL of the page in this process, or None before the first decision."""
        return self._server.url if self._server is not None and self._process == os.getpid() else None

    def after(self, number: int) -> tuple[Inspected, ...]:
        """Return the kept decisions with a greater number than `number`, oldest first."""
        return self._kept.after(number)

    def __call__(self, decision: Decision) -> None:
        """Keep a decision with its evidence, and serve the page if no thread of this process does."""
        evidence = decision.evidence()
        if not evidence.is_local:
            if not self._has_warned:
                self._has_warned = True
                logger.warning(
                    "the inspector shows nothing: it is for development, and one of origins is not on this machine"
                )
            return
        self._kept.keep(decision, evidence)
        with self._starting:
            if self._process != os.getpid():
                self._process = os.getpid()
                self._serve()

    def stop(self) -> None:
        """End the page."""
        if self._server is not None:
            self._server.stop()

    def _serve(self) -> None:
        try:
            self._server = self._make_server(port=self._port, decisions=self._kept)
        except OSError as failure:
            logger.warning("the inspector has no page: port %d: %s", self._port, failure.strerror)
            return
        threading.Thread(target=self._server.run, name="undersigned inspector", daemon=True).start()
        logger.warning("the inspector shows the decisions of this process at %s", self._server.url)

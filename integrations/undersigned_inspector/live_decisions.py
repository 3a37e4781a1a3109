"""The inspector of an application in development: its last decisions, on a page of their own."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned import ConfigurationError
from undersigned.errors import CHECKS
from undersigned.fork_safety import ProcessLock
from undersigned.message.timestamps import moment
from undersigned.url import URL

from .html import HTML, element, join
from .page import bases, canonicalization, checklist, document, facts, message, paste, verdict
from .server import PageServer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned import Decision
    from undersigned.middleware import Evidence

logger = logging.getLogger("undersigned")

LAST_PORT: Final = 65_535


class Kept(NamedTuple):
    """A decision, its number in this inspector, from 1, when it was made, in seconds since the epoch, and why."""

    number: int
    at: float
    decision: Decision
    evidence: Evidence

    def __str__(self) -> str:
        """Return it in one line."""
        one = self.decision
        code = f": {one.code}" if one.code else ""
        return f"{self.number}. {one.outcome.capitalize()}{code}: {one.method or '?'} {one.target or one.route or ''}"


class Inspector:
    """A listener that shows the last decisions of an application on a page: `SignatureMiddleware(on_decision=...)`.

    It is for development: it keeps nothing of a middleware unless all origins of that are loopback origins. The page is
    served by a thread of the application's process, on 127.0.0.1 and another port than the application. It works for
    ASGI and WSGI, needs no route, and no request for it is verified or shown. The thread starts with the first
    decision: only then is it known which process serves. The log then has the URL of the page.

    Args:
        most: how many decisions are kept; the oldest is dropped first.
        port: the port of the page, or 0 for any that is free.

    Attributes:
        url: the URL of the page, or None before the first decision.

    Raises:
        ConfigurationError: an argument has a wrong value.
    """

    def __init__(self, *, most: int = 200, port: int = 0) -> None:
        if most < 1:
            raise ConfigurationError("most: give the number of decisions to keep, such as 200")
        if not 0 <= port <= LAST_PORT:
            raise ConfigurationError("port: give the number of a port, or 0 for any that is free")
        self.url: str | None = None
        self._port = port
        self._lock = ProcessLock()
        self._kept: deque[Kept] = deque(maxlen=most)
        self._count = 0
        self._begun = False
        self._server: PageServer | None = None

    def __call__(self, decision: Decision) -> None:
        """Keep a decision with its evidence, and serve the page if this is the first one."""
        evidence = decision.evidence()
        with self._lock:
            if not self._begun:
                self._begun = True
                self._begin(is_local=evidence.is_local)
            if evidence.is_local:
                self._count += 1
                self._kept.append(Kept(self._count, time.time(), decision, evidence))

    def stop(self) -> None:
        """End the page."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def page(self, path: str, texts: Mapping[str, str]) -> HTML | None:
        """Return the list of decisions, the page of one, or the form."""
        if path == "paste":
            return paste("", texts)
        with self._lock:
            kept = list(self._kept)
        if not path:
            return _list(kept)
        found = [one for one in kept if str(one.number) == path]
        return document(_decided(found[0])) if found else None

    def _begin(self, *, is_local: bool) -> None:
        if not is_local:
            logger.warning("the inspector shows nothing: it is for development, and an origin is not on this machine")
            return
        try:
            self._server = PageServer(self.page, port=self._port)
        except OSError as failure:
            logger.warning("the inspector has no page: port %d: %s", self._port, failure.strerror)
            return
        self.url = self._server.url
        threading.Thread(target=self._server.serve_forever, name="undersigned inspector", daemon=True).start()
        logger.warning("the inspector shows the decisions of this process at %s", self.url)


def _list(kept: list[Kept]) -> HTML:
    items = [
        element("li", element("a", str(one), href=str(one.number)), class_=one.decision.outcome)
        for one in reversed(kept)
    ]
    return document(
        element("p", element("a", "Paste a request", href="paste")),
        element("section", element("h2", "Decisions, the newest first"), element("ol", *items, class_="live")),
        refreshed=True,
    )


def _decided(kept: Kept) -> HTML:
    decision, evidence = kept.decision, kept.evidence
    url = URL.parse(evidence.url)
    named = {
        "Decided": moment(kept.at),
        "URL": evidence.url,
        "Profile": decision.profile,
        "Key": decision.keyid,
        "Algorithm": decision.algorithm,
        "Route": decision.route,
        "Took": f"{decision.seconds * 1000:.2f} ms",
        "Received": evidence.received,
    }
    rows: list[tuple[str, str, str]] = []
    reached = True
    for check in CHECKS.values():
        failed = check == decision.step
        reached = reached and not failed
        detail = f"{decision.code}: {evidence.detail}" if failed else ""
        rows.append((check, "failed" if failed else "passed" if reached else "not reached", detail))
    return element(
        "section",
        element("p", element("a", "All decisions", href="./")),
        verdict(str(kept), is_good=decision.outcome in {"verified", "unsigned"}),
        facts((name, value) for name, value in named.items() if value),
        checklist(rows) if decision.step is not None or decision.outcome == "verified" else "",
        bases({"Rebuilt from the request": evidence.base}) if evidence.base is not None else "",
        message(decision.method or "?", url, evidence.fields, evidence.base, "(content is not kept)"),
        canonicalization(evidence.url) if url.scheme else join(),
        id="result",
    )

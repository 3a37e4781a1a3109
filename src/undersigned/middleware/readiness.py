"""Readiness: whether requests can be verified now, for the health checks of a proxy or an orchestrator."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError
from undersigned.fork_safety import ProcessLock
from undersigned.middleware.error_response import ErrorResponse
from undersigned.verification.blocking_calls import awaited

if TYPE_CHECKING:
    from undersigned.verification.verifier import AsyncVerifier, Part

_KEPT: Final = 1.0
"""Seconds for which an answer is kept: a caller who asks often does not reach the store more often."""

_LONGEST: Final = 10.0
"""Seconds after which a source that has not answered is not ready, and is asked again."""
_ALL: Final[tuple[Part, ...]] = ("keys", "revocations", "store")


class Readiness:
    """The sources of a verifier that cannot answer now. They are asked by one caller at a time, once a second at most.

    Raises:
        ConfigurationError: the path of the route does not begin with a slash.
    """

    def __init__(self, verifier: AsyncVerifier, path: str) -> None:
        if not path.startswith("/"):
            raise ConfigurationError("path: give the path of the check, such as /ready")
        self._path = path
        self._verifier = verifier
        self._unready = _ALL
        self._until = 0.0
        self._is_asking = False
        self._lock = ProcessLock()

    async def answer(self, method: str, path: str) -> ErrorResponse | None:
        """Return the answer to a check; None: the request is not one."""
        if path != self._path or method not in {"GET", "HEAD"}:
            return None
        if self._begins():
            until = 0.0
            try:
                self._unready = await awaited(self._verifier.unready())
                until = time.monotonic() + _KEPT
            finally:
                self._is_asking, self._until = False, until
        unready = self._unready
        content = json.dumps({"ready": not unready, "unready": unready}).encode("ascii")
        return ErrorResponse(503 if unready else 200, "").with_content(content, fields=[("Cache-Control", "no-store")])

    def _begins(self) -> bool:
        """Return whether this caller asks. No lock is held while it does: a source may hang, and a process fork."""
        # The clock is read under the lock, so that nobody has a time from before the last asking.
        with self._lock:
            now = time.monotonic()
            if now < self._until:
                return False
            if self._is_asking:
                self._unready = _ALL
            self._is_asking, self._until = True, now + _LONGEST
            return True

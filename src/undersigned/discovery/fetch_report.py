"""Reports of fetches: how long a document took, and why it could not be fetched; for metrics."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.errors import Reason

Document = Literal["keys", "revocations"]
"""What is fetched: a set of keys, with everything that leads to it, or a revocation list."""

_logger = logging.getLogger("undersigned.discovery")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchReport:
    """A report of one fetch of a document.

    Attributes:
        document: what was fetched.
        url: the URL that the operator configured, or the URL that a sender named, if the source fetches those.
        seconds: how long the fetch took, with all requests that it needed.
        error: why it failed, or None.
    """

    document: Document
    url: str
    seconds: float
    error: Reason | None = None

    def send(self, on_fetch: Callable[[FetchReport], object] | None) -> None:
        """Call `on_fetch` with this report. An exception that it raises is logged and ignored."""
        if on_fetch is None:
            return
        try:
            on_fetch(self)
        except Exception:
            # A callback that counts fetches must not end one.
            _logger.exception("on_fetch raised an exception; ignored")

"""Revocation sources that need no network of their own: a list in a file, and lists by the owners of keys."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, cast

from undersigned.discovery.waiting import in_thread
from undersigned.limits import MOST_LIST_BYTES
from undersigned.verification.revocation import RevocationList
from undersigned.verification.verifier import is_ready
from undersigned.watched_file import WatchedFile

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable, Mapping

    from undersigned.verification.revocation import AsyncRevocationSource, RevocationSource


class RevocationFile:
    """A revocation source over a list in a file, read again when the file changes. Safe to share between threads.

    The file has the JSON of AdCP, such as `{"issuer": "https://gov.example.com", "updated": "2026-11-22T10:00:00Z",
    "next_update": "2026-11-22T10:15:00Z", "revoked_kids": ["buyer-2025"]}`. To change it, write another file and rename
    it.

    Args:
        path: the file.
        issuer: the list's `issuer`; None: any.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: the file cannot be read, or has no such list.
    """

    __slots__ = ("_file",)

    blocking = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        issuer: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        read = partial(RevocationList.from_json, issuer=issuer)
        self._file = WatchedFile(path, read, most=MOST_LIST_BYTES, clock=clock)

    def current(self, owner: str) -> RevocationList:  # noqa: ARG002 - the protocol's signature
        """Return the list, whoever owns the key."""
        return self._file.value

    def is_ready(self, now: float) -> bool:
        """Return whether the list is not stale."""
        return self._file.value.is_ready(now)


class RevocationSources:
    """Revocation sources by owner: each signer's keys by the list that applies to that signer.

    Args:
        sources: a source for each owner, as the key source names them.
    """

    __slots__ = ("_sources",)

    def __init__(self, sources: Mapping[str, AsyncRevocationSource]) -> None:
        self._sources = dict(sources)

    @property
    def blocking(self) -> bool:
        """Whether one of the sources may block."""
        return any(getattr(source, "blocking", True) for source in self._sources.values())

    def is_ready(self, now: float) -> bool:
        """Return whether one of the sources can answer: the keys of its owners can be accepted."""
        ready = [is_ready(source, now) for source in self._sources.values()]
        return any(ready)

    def current(self, owner: str) -> RevocationList | Awaitable[RevocationList | None] | None:
        """Return what the owner's source answers, or None if there is none for this owner."""
        source = self._sources.get(owner)
        return None if source is None else source.current(owner)

    def async_current(self, owner: str) -> RevocationList | Awaitable[RevocationList | None] | None:
        """As `current`, without blocking the event loop."""
        source = self._sources.get(owner)
        if source is None:
            return None
        ask = getattr(source, "async_current", None)
        if ask is None and getattr(source, "blocking", False):
            blocking = cast("RevocationSource", source)
            return asyncio.wrap_future(in_thread(lambda: blocking.current(owner), "undersigned-revocations"))
        return (ask or source.current)(owner)

"""Revocation sources that need no network of their own: a list in a file, and lists by the owners of keys."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_LIST_BYTES
from undersigned.message.timestamps import system_clock
from undersigned.verification.blocking_calls import Several
from undersigned.verification.revocation_list import RevocationList
from undersigned.watched_file import WatchedFile

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable, Mapping

    from undersigned.verification.revocation_list import AsyncRevocationSource


class RevocationFile:
    """A revocation source over a list in a file, read again when the file changes. Safe to share between threads.

    The file has the JSON of AdCP, such as `{"issuer": "https://gov.example.com", "updated": "2026-11-22T10:00:00Z",
    "next_update": "2026-11-22T10:15:00Z", "revoked_kids": ["buyer-2025"]}`. To change it, write another file and rename
    it. Only a list with a newer `updated` takes a revocation back. A list that is older, or dated in the future, is not
    used.

    Args:
        path: the file.
        issuer: the list's `issuer`; None: any.
        clock: seconds that never go back.
        now: seconds since the epoch.

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
        now: Callable[[], float] = system_clock,
    ) -> None:
        if not Path(path).exists():
            raise ConfigurationError(f"path: there is no file {path}; `undersigned revoke --list {path}` makes a list")
        last: RevocationList | None = None

        def read(text: bytes) -> RevocationList:
            nonlocal last
            last = RevocationList.from_json(text, issuer=issuer).after(last, now=now())
            return last

        self._file = WatchedFile(path, read, most=MOST_LIST_BYTES, clock=clock)

    def current(self, owner: str) -> RevocationList:  # noqa: ARG002 - the protocol's signature
        """Return the list, whoever owns the key."""
        return self._file.value

    def is_ready(self, now: float) -> bool:
        """Return whether the list is not stale."""
        return self._file.value.is_ready(now)


class RevocationSources(Several["AsyncRevocationSource"]):
    """Revocation sources by owner: each signer's keys by the list that applies to that signer.

    Args:
        sources: a source for each owner, as the key source names them.
    """

    __slots__ = ()

    def __init__(self, sources: Mapping[str, AsyncRevocationSource]) -> None:
        super().__init__("current", sources)

    def current(self, owner: str) -> RevocationList | Awaitable[RevocationList | None] | None:
        """Return what the owner's source answers, or None if there is none for this owner."""
        source = self._sources.get(owner)
        return None if source is None else source.current(owner)

    def async_current(self, owner: str) -> RevocationList | Awaitable[RevocationList | None] | None:
        """As `current`, without blocking the event loop."""
        ask = self._from_tasks.get(owner)
        return None if ask is None else ask(owner)

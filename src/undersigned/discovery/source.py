"""Fetched sources: what sources of fetched documents share, which is to fetch ahead of time and to look keys up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from undersigned.discovery.jwk_set import Keys
from undersigned.discovery.running import AsyncRunning, Running

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from undersigned.discovery.kept import AsyncKept, Kept
    from undersigned.signature.key_source import KeyLookup
    from undersigned.signature.verification_key import VerificationKey

Value = TypeVar("Value")


class Fetched(Running, Generic[Value]):
    """A source over a document that is fetched; safe to share between threads.

    `with` (or `start` and `stop`) fetches ahead of time in a thread; otherwise a request that finds the document
    expired waits for the fetch. The thread does not survive a fork: start it in the worker.
    """

    __slots__ = ("_kept",)

    def __init__(self, kept: Kept[Value]) -> None:
        self._kept = kept

    @property
    def blocking(self) -> bool:
        """Always True: the source may fetch."""
        return True

    def start(self) -> None:
        """Begin to fetch ahead of time, in a thread."""
        self._kept.start()

    def stop(self) -> None:
        """End fetching ahead of time; waits for a fetch in flight, `network.total_timeout` seconds at most."""
        self._kept.stop()


class AsyncFetched(AsyncRunning, Generic[Value]):
    """`Fetched` for the tasks of an event loop; `async with` fetches ahead of time in a task."""

    __slots__ = ("_kept",)

    def __init__(self, kept: AsyncKept[Value]) -> None:
        self._kept = kept

    def start(self) -> None:
        """Begin to fetch ahead of time, in a task of the running event loop."""
        self._kept.start()

    async def stop(self) -> None:
        """End fetching ahead of time, and a fetch in flight."""
        await self._kept.stop()


class FetchedKeys(Fetched[Keys]):
    """A key source over keys that are fetched, for threads."""

    __slots__ = ()

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the keys that `lookup.keyid` names, four at most.

        Raises:
            KeySourceError: the keys cannot be fetched, or none has this keyid and they cannot be fetched again.
        """
        return self._kept.get(lambda keys: lookup.keyid in keys).get(lookup.keyid, ())

    def holds(self, keyid: str) -> bool:
        """Return whether the keys of the last fetch, however long ago it was, have one with this keyid."""
        return keyid in (self._kept.last() or {})

    def waits(self, keyid: str) -> bool:
        """Return whether `find` would fetch now, or wait for a fetch, to answer for this keyid."""
        return self._kept.waits(lambda keys: keyid in keys)


class AsyncFetchedKeys(AsyncFetched[Keys]):
    """`FetchedKeys` for the tasks of an event loop."""

    __slots__ = ()

    def find(
        self, lookup: KeyLookup
    ) -> tuple[VerificationKey, ...] | Coroutine[object, None, tuple[VerificationKey, ...]]:
        """Return the keys as `FetchedKeys.find` does, or an awaitable of them if they have to be fetched."""
        return (self._kept.fresh() or {}).get(lookup.keyid) or self._fetch(lookup.keyid)

    def holds(self, keyid: str) -> bool:
        """As `FetchedKeys.holds`."""
        return keyid in (self._kept.last() or {})

    async def _fetch(self, keyid: str) -> tuple[VerificationKey, ...]:
        return (await self._kept.get(lambda keys: keyid in keys)).get(keyid, ())

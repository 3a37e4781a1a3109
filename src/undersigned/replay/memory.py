"""Replay stores in the memory of one process (RFC 9421 section 7.2.2)."""

from __future__ import annotations

import logging
import math
import time
from heapq import heappop, heappush
from os import getpid
from typing import TYPE_CHECKING, Final

from undersigned.fork_safety import ProcessLock
from undersigned.replay.store import bounded_nonce, forgettable

if TYPE_CHECKING:
    from undersigned.replay.store import Claim
    from undersigned.signature.rules import Caps

logger = logging.getLogger("undersigned")

_SLOT: Final = 30
"""Seconds of a slot. A nonce counts until its slot ends."""

_FEW: Final = 8
"""How many ended nonces a claim forgets. More than one, so that it forgets faster than it remembers."""

_SHARED: Final = (
    "MemoryReplayStore is used in more than one process (process %d used it before process %d was forked): each has "
    "nonces of its own, so the same signed request is accepted once by each; use SqliteReplayStore, RedisReplayStore "
    "or PostgresReplayStore"
)


class MemoryReplayStore:
    """A replay store for one process. Safe to share between threads.

    Each process has its own nonces, so use another store if a server has several workers. The store logs an error if
    a process that has used it was forked. It keeps a digest of a nonce longer than 32 characters.

    Each claim forgets a few nonces that have ended, so its work is the same however many nonces are live, and however
    long they live. A nonce that ends before a forgotten one is answered `forgotten`: it may have been one of them.
    """

    __slots__ = ("_ahead", "_forgotten", "_keys", "_lock", "_order", "_process", "_repeated", "_slots", "_total")

    blocking = False

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self._keys: dict[str, dict[str, str | None]] = {}  # the contents of the live nonces of each key
        self._slots: dict[int, list[str]] = {}  # keyid, nonce, keyid, nonce, ... of all that end in a slot
        self._order: list[int] = []  # the slots as a heap: the first one ends first
        self._repeated: dict[tuple[str, str], int] = {}  # in which slots the nonces end that were claimed again
        self._total = 0
        self._forgotten: float = -math.inf
        self._process: int | None = None
        # A clock that goes on as it is if the time of the system is set.
        self._ahead = time.time() - time.monotonic()

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`."""
        with self._lock:
            return self._is_full(keyid, now, caps)

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> Claim:
        """Remember the pair of key ID and nonce until `until`. This and the two checks are one atomic step."""
        nonce, slot = bounded_nonce(nonce), int(until // _SLOT)
        with self._lock:
            before, self._process = self._process, getpid()
            if before not in {None, self._process}:
                logger.error(_SHARED, before, self._process)
            self._forget(now, _FEW)
            live = self._keys.get(keyid)
            if live is not None and nonce in live:
                if content is None or live[nonce] != content:
                    return "seen"
                self._repeated[keyid, nonce] = max(slot, self._repeated.get((keyid, nonce), slot))
                return "same"
            if slot <= self._forgotten:
                return "forgotten"
            if self._is_full(keyid, now, caps):
                return "full"
            self._keys.setdefault(keyid, {})[nonce] = content
            self._end(slot, keyid, nonce)
            self._total += 1
            return "fresh"

    def __len__(self) -> int:
        """Return how many nonces are remembered, including ended ones that are not forgotten yet."""
        return self._total

    def __bool__(self) -> bool:
        """Return True, so that `replay or another` keeps a store that is still empty."""
        return True

    def _is_full(self, keyid: str, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached. If one is, first forget all nonces that have ended."""
        while len(self._keys.get(keyid, ())) >= caps.per_key or (caps.total is not None and self._total >= caps.total):
            if not self._forget(now, self._total):
                return True
        return False

    def _end(self, slot: int, keyid: str, nonce: str) -> None:
        """Let a nonce end in a slot."""
        ending = self._slots.get(slot)
        if ending is None:
            ending = self._slots[slot] = []
            heappush(self._order, slot)
        ending += (keyid, nonce)

    def _forget(self, now: float, most: int) -> int:
        """Look at no more than `most` nonces whose slot is over, and forget those that were not claimed again later.

        Returns:
            how many were forgotten.
        """
        order, count = self._order, 0
        if not order or order[0] > now // _SLOT:
            return 0
        first = forgettable(now, self._ahead + time.monotonic()) // _SLOT
        for _ in range(most):
            if not order or order[0] >= first:
                break
            slot = order[0]
            ending = self._slots[slot]
            nonce, keyid = ending.pop(), ending.pop()
            if not ending:
                del self._slots[heappop(order)]
            again = self._repeated.pop((keyid, nonce), slot)
            if again > slot:
                self._end(again, keyid, nonce)
                continue
            self._forgotten = max(self._forgotten, slot)
            live = self._keys[keyid]
            del live[nonce]
            if not live:
                del self._keys[keyid]
            count += 1
        self._total -= count
        return count

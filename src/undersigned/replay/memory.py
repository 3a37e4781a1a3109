"""Replay stores in the memory of one process (RFC 9421 section 7.2.2)."""

from __future__ import annotations

import logging
import math
import threading
from os import getpid
from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError
from undersigned.limits import LONGEST_NONCE
from undersigned.replay.nonce import bounded_nonce, content_marker
from undersigned.replay.workers import worker_count

if TYPE_CHECKING:
    from undersigned.replay.store import Claim, ContentClaim
    from undersigned.signature.rules import Caps

logger = logging.getLogger("undersigned")

_SHARED = (
    "MemoryReplayStore is used in more than one process (%s): each has nonces of its own, so the same signed request "
    "is accepted once by each; use SqliteReplayStore, RedisReplayStore or PostgresReplayStore"
)


class MemoryReplayStore:
    """A replay store for one process. Safe to share between threads.

    If a server has several workers, or after a fork, the first claim in a process logs an error: each process has its
    own nonces. The store keeps a digest of a nonce longer than 32 characters.

    The live nonces of a key are in sets, one for each slot of time in which nonces end. Forgetting drops whole sets. A
    claim looks into at most `lifetime / slot` sets, however many nonces are live. A nonce counts until its slot ends,
    at most `slot` seconds longer than asked. A claim that ends in a slot already dropped counts as seen. That happens
    if the clock was set back or the claim comes late: the nonce may have been in that slot.

    Args:
        slot: the width of a slot in seconds.

    Raises:
        ConfigurationError: `slot` is not greater than 0.
    """

    __slots__ = ("_dropped", "_keys", "_lock", "_made_in", "_slot", "_total", "_used_in")

    def __init__(self, *, slot: float = 30.0) -> None:
        if not 0 < slot < math.inf:
            raise ConfigurationError("slot: give seconds greater than 0, such as 30")
        self._slot = slot
        self._lock = threading.RLock()
        self._keys: dict[str, _Live] = {}
        self._total = 0
        self._dropped = -math.inf
        self._made_in = getpid()
        self._used_in: int | None = None

    @property
    def blocking(self) -> bool:
        """Always False: the nonces are in memory."""
        return False

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:
        """Return whether a cap is reached for `keyid`."""
        if self._total < caps.least:
            return False
        with self._lock:
            return self._is_full(keyid, int(now // self._slot), caps)

    def claim(self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps) -> Claim:
        """Remember the pair of keyid and nonce until `until`. This and the two checks are one atomic step."""
        if self._used_in != getpid():
            self._begin(getpid())
        first, end = int(now // self._slot), int(until // self._slot)
        if not 0 < len(nonce) <= LONGEST_NONCE:
            nonce = bounded_nonce(nonce)
        with self._lock:
            if end <= self._dropped:
                return "seen"
            live = self._keys.get(keyid)
            if live is not None:
                if live.has(nonce, first):
                    return "seen"
                if live.swept != first:
                    self._forget(keyid, live, first)
            if self._total >= caps.least and self._is_full(keyid, first, caps):
                return "full"
            if live is None or not live.slots:
                live = self._keys[keyid] = _Live(first)
            nonces = live.slots.get(end)
            if nonces is None:
                nonces = live.slots[end] = set()
            nonces.add(nonce)
            live.count += 1
            self._total += 1
            return "fresh"

    def claim_content(
        self, keyid: str, nonce: str, content: str, *, now: float, until: float, caps: Caps
    ) -> ContentClaim:
        """Remember the pair and the content it came with, as `claim` does. The content counts as one more nonce."""
        first, end = int(now // self._slot), int(until // self._slot)
        marker = content_marker(nonce, content)
        with self._lock:
            claim = self.claim(keyid, nonce, now=now, until=until, caps=caps)
            live = self._keys.get(keyid)
            if live is None or claim == "full":
                return claim
            if claim == "fresh":
                live.slots[end].add(marker)
                live.count += 1
                self._total += 1
                return "fresh"
            return "same" if live.has(marker, first) else "seen"

    def __len__(self) -> int:
        """Return how many nonces are remembered, including ended ones in slots that are not dropped yet."""
        return self._total

    def __bool__(self) -> bool:
        """Return True, so that `replay or another` keeps a store that is still empty."""
        return True

    def _begin(self, process: int) -> None:
        """Log an error before the first claim in this process if other processes use a copy of this store."""
        with self._lock:
            before, self._used_in = self._used_in, process
        if before == process:
            return
        workers = worker_count()
        if before is not None:
            logger.error(_SHARED, f"process {before} used it before process {process} was forked")
        elif workers is not None and workers > 1:
            logger.error(_SHARED, f"{workers} workers of one server")
        elif workers is None and self._made_in != process:
            logger.error(_SHARED, f"process {self._made_in} made it, and process {process} uses it")

    def _is_full(self, keyid: str, first: int, caps: Caps) -> bool:
        """Drop ended slots, of all keys if the total is reached, and return whether a cap is reached."""
        live, count = self._keys.get(keyid), 0
        if live is not None:
            if live.swept != first:
                self._forget(keyid, live, first)
            count = live.count
        if count >= caps.per_key:
            return True
        if caps.total is None or self._total < caps.total:
            return False
        for other, others_live in tuple(self._keys.items()):
            self._forget(other, others_live, first)
        return self._total >= caps.total

    def _forget(self, keyid: str, live: _Live, first: int) -> None:
        live.swept = first
        for slot in [slot for slot in live.slots if slot < first]:
            ended = len(live.slots.pop(slot))
            self._dropped = max(self._dropped, slot)
            live.count -= ended
            self._total -= ended
        if not live.slots:
            del self._keys[keyid]


class _Live:
    """The live nonces of one key.

    Attributes:
        slots: the nonces by the slot they end in.
        count: the number of live nonces.
        swept: the first slot that was not dropped.
    """

    __slots__ = ("count", "slots", "swept")

    def __init__(self, first: int) -> None:
        self.slots: dict[int, set[str]] = {}
        self.count = 0
        self.swept = first

    def has(self, nonce: str, first: int) -> bool:
        """Return whether `nonce` is in a slot from `first` on."""
        for slot, nonces in self.slots.items():  # noqa: SIM110 - any() takes half a microsecond more
            if nonce in nonces and slot >= first:
                return True
        return False


class UncheckedReplay:
    """A replay store that accepts every nonce: for inspecting recorded requests, never for a server."""

    __slots__ = ()

    @property
    def blocking(self) -> bool:
        """Always False."""
        return False

    def full(self, keyid: str, *, now: float, caps: Caps) -> bool:  # noqa: ARG002 - the protocol's signature
        """Return False."""
        return False

    def claim(self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps) -> Claim:  # noqa: ARG002 - the same
        """Return `fresh`."""
        return "fresh"

    def claim_content(
        self,
        keyid: str,
        nonce: str,
        content: str,  # noqa: ARG002 - the same
        *,
        now: float,
        until: float,
        caps: Caps,
    ) -> ContentClaim:
        """Return `fresh`."""
        return self.claim(keyid, nonce, now=now, until=until, caps=caps)

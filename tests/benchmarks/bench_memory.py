"""What a live nonce costs in the store of one process."""

from __future__ import annotations

import gc
import secrets
import tracemalloc

from tests.benchmarks.row import Row

from undersigned import MemoryReplayStore
from undersigned.signature.rules import Caps


def rows(*, quick: bool) -> list[Row]:
    """Fill a store as five minutes of even traffic do, and look at its memory."""
    count, slots = (10_000 if quick else 1_000_000), 12
    store, caps = MemoryReplayStore(), Caps(per_key=count + 1)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(count):
        until = 30.0 * (number * slots // count) + 30
        store.claim("buyer", secrets.token_urlsafe(16), now=0, until=until, caps=caps)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(store) == count
    return [Row("memory of a live nonce, in process", f"{count:,} live", (after - before) / count, 200, "bytes")]

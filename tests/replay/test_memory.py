from __future__ import annotations

import os
import time
import tracemalloc

import pytest
from tests.work import lines_run

from undersigned import MemoryReplayStore
from undersigned.signature.rules import Caps

CAPS = Caps(per_key=3, total=5)
ROOMY = Caps(per_key=1_000_000)
LATER = 120 + 900
"""The time at which what ends at 100 is forgotten, as these times are far from those of the system."""


def claim(store, nonce: str, *, keyid: str = "k", now: float = 0, until: float = 360, caps: Caps = CAPS):
    return store.claim(keyid, nonce, now=now, until=until, caps=caps)


def test_nonce_is_forgotten_when_its_slot_has_ended():
    store, now = MemoryReplayStore(), time.time() // 30 * 30 - 300
    assert claim(store, "n", now=now, until=now + 100) == "fresh"
    assert claim(store, "n", now=now + 120, until=now + 400) == "fresh"
    assert len(store) == 1


def test_nonce_is_kept_a_quarter_of_an_hour_when_the_clocks_differ_by_more():
    store = MemoryReplayStore()
    assert claim(store, "n", until=100) == "fresh"
    assert claim(store, "n", now=1019, until=1400) == "seen"
    assert claim(store, "n", now=1020, until=1400) == "fresh"


def test_nonce_is_rejected_when_another_key_moved_the_clock_past_it():
    store = MemoryReplayStore()
    tight = Caps(per_key=10, total=1)
    assert claim(store, "n", keyid="k", now=0, until=100, caps=tight) == "fresh"
    assert claim(store, "m", keyid="l", now=2000, until=2100, caps=tight) == "fresh"
    assert claim(store, "n", keyid="k", now=50, until=100, caps=ROOMY) == "forgotten"


@pytest.mark.parametrize("content", [None, "c"])
def test_claim_is_the_same_work_for_every_lifetime_and_number_of_nonces(content):
    """Of a profile whose nonces live five minutes, and of one whose nonces live a day."""
    work = set()
    for life in (300, 86_400):
        store, count = MemoryReplayStore(), 20_000
        start = time.time() - life
        for number in range(count):
            now = start + number * life / count
            store.claim("k", f"n{number}", now=now, until=now + life, caps=ROOMY, content=content)
        now = start + life
        work.add(
            lines_run(lambda: store.claim("k", "new", now=now, until=now + life, caps=ROOMY, content=content))  # noqa: B023
        )
        store.claim("k", "again", now=now, until=now + life, caps=ROOMY, content=content)
        work.add(
            lines_run(lambda: store.claim("k", "again", now=now, until=now + life, caps=ROOMY, content=content))  # noqa: B023
        )
    assert max(work) < 150


def in_child(monkeypatch) -> None:
    """Let the store take this process for one that was forked from it."""
    monkeypatch.setattr("undersigned.replay.memory.getpid", lambda: 0)


def test_memory_store_says_that_it_was_used_before_a_fork(monkeypatch, caplog):
    store = MemoryReplayStore()
    claim(store, "n")
    in_child(monkeypatch)
    claim(store, "m")
    claim(store, "o")
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert f"(process {os.getpid()} used it before process 0 was forked)" in caplog.text
    assert "use SqliteReplayStore" in caplog.text


def test_memory_store_that_was_only_made_before_a_fork_says_nothing(monkeypatch, caplog):
    store = MemoryReplayStore()
    in_child(monkeypatch)
    claim(store, "n")
    assert not caplog.records


def test_empty_store_is_not_taken_for_none():
    store = MemoryReplayStore()
    assert len(store) == 0
    assert (store or "another") is store


def test_stored_form_of_a_long_nonce_is_bounded():
    store, long = MemoryReplayStore(), "n" * 1_000_000
    tracemalloc.start()
    try:
        assert claim(store, long) == "fresh"
        assert claim(store, long) == "seen"
        assert claim(store, long[:-1]) == "fresh"
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 100_000

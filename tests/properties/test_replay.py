from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from undersigned import Caps, MemoryReplayStore, SqliteReplayStore

SLOT = 30
CAPS = Caps(per_key=4, total=7)

keyids = st.sampled_from("kl")
nonces = st.sampled_from("abcdefgh")


class Store(RuleBasedStateMachine):
    """A replay store next to a list of everything it ever called fresh."""

    linger = 0
    """Seconds after its end that a nonce may still count."""

    def __init__(self):
        super().__init__()
        self.store = self.empty_store()
        self.now = 10_000.0
        self.latest = self.now
        self.claimed: list[tuple[str, str, float]] = []

    def ends(self, keyid: str | None = None, nonce: str | None = None) -> list[float]:
        return [end for key, name, end in self.claimed if keyid in {None, key} and nonce in {None, name}]

    def at_cap(self, keyid: str, *, since: float) -> bool:
        """Whether a cap is reached by what ends at `since` or later."""
        own = sum(end >= since for end in self.ends(keyid))
        return own >= CAPS.per_key or sum(end >= since for end in self.ends()) >= CAPS.total

    @rule(seconds=st.integers(0, 400))
    def time_goes_on(self, seconds):
        self.now += seconds
        self.latest = max(self.latest, self.now)

    @rule(seconds=st.integers(0, 2000))
    def the_clock_is_set_back(self, seconds):
        self.now -= seconds

    @rule(keyid=keyids, nonce=nonces, life=st.integers(0, 420))
    def a_signature_comes(self, keyid, nonce, life):
        self.claim(keyid, nonce, self.now + life)

    @precondition(lambda self: self.claimed)
    @rule(choice=st.integers(0, 1000))
    def a_signature_comes_again(self, choice):
        keyid, nonce, until = self.claimed[choice % len(self.claimed)]
        if until >= self.now:
            assert self.claim(keyid, nonce, until) in {"seen", "forgotten"}, "a replay was accepted"

    def claim(self, keyid: str, nonce: str, until: float) -> str:
        answer = self.store.claim(keyid, nonce, now=self.now, until=until, caps=CAPS)
        before = self.ends(keyid, nonce)
        if answer == "fresh":
            assert not any(end >= self.latest for end in before), "a live nonce was forgotten"
            assert not self.at_cap(keyid, since=self.latest), "a cap was exceeded"
            self.claimed.append((keyid, nonce, until))
        elif answer == "seen":
            assert any(end >= self.now - self.linger for end in before)
        elif answer == "forgotten":
            assert until < self.latest, "what ends later than all times of the store cannot be forgotten"
        else:
            assert answer == "full"
            assert self.at_cap(keyid, since=self.now - self.linger), "full below the cap"
        return answer

    @rule(keyid=keyids)
    def full(self, keyid):
        if self.store.full(keyid, now=self.now, caps=CAPS):
            assert self.at_cap(keyid, since=self.now - self.linger)
        else:
            assert not self.at_cap(keyid, since=self.latest)


class MemoryStore(Store):
    linger = 900 + SLOT

    def empty_store(self):
        return MemoryReplayStore()

    @invariant()
    def what_is_remembered_is_within_the_cap(self):
        assert len(self.store) <= CAPS.total
        assert len(self.store) >= sum(end >= self.latest for end in self.ends())


class SqliteStore(Store):
    linger = 900

    def empty_store(self):
        self.folder = tempfile.mkdtemp()
        return SqliteReplayStore(Path(self.folder, "replay.sqlite"), survives_power_loss=False)

    def teardown(self):
        self.store.close()
        shutil.rmtree(self.folder)


MemoryStore.TestCase.settings = settings(stateful_step_count=50)
SqliteStore.TestCase.settings = settings(stateful_step_count=40)
TestMemoryStore = MemoryStore.TestCase
TestSqliteStore = SqliteStore.TestCase

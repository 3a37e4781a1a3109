from __future__ import annotations

import asyncio
import contextlib
import os
import select
import threading
import time

import pytest
from tests.keys import Awaited

from undersigned import Caps, MemoryReplayStore
from undersigned.testing import (
    check_async_replay_store,
    check_async_replay_store_after_fork,
    check_replay_store,
    check_replay_store_after_fork,
)

PARENT = os.getpid()


class Broken(MemoryReplayStore):
    """A store that keeps the contract; each subclass breaks it in one way."""


claim, full = MemoryReplayStore.claim, MemoryReplayStore.full


def capped(method, **changes):
    return {method.__name__: lambda *given, caps, **options: method(*given, caps=caps._replace(**changes), **options)}


def with_keyid(change):
    return {"claim": lambda own, keyid, *given, **options: claim(own, change(keyid), *given, **options)}


def with_nonce(change):
    return {"claim": lambda own, keyid, nonce, **options: claim(own, keyid, change(nonce), **options)}


ANY_TEXT = "a claim is for a keyid and a nonce together, of any text: "
SIMPLE = {
    "says no word": ({"blocking": None}, "blocking: must be True or False"),
    "answers None": ({"claim": lambda *_, **__: None}, "claim: answered None; expected fresh, same, seen, forgotten"),
    "answers a count": ({"full": lambda *a, **b: int(full(*a, **b))}, "full: answered 0, expected False"),
    "forgets at once": (
        {"claim": lambda _, *given, **options: MemoryReplayStore().claim(*given, **options)},
        "a nonce is fresh once",
    ),
    "joins keyid and nonce": (
        {"claim": lambda own, keyid, nonce, **options: claim(own, "", keyid + nonce, **options)},
        f"{ANY_TEXT}'ab' and 'c'",
    ),
    "ignores case": (with_nonce(str.lower), f"{ANY_TEXT}'a' and 'BC'"),
    "reads patterns": (with_nonce(lambda nonce: nonce.replace("*", "0")), ANY_TEXT),
    "keeps some characters": (with_nonce(lambda nonce: nonce[:100]), f"{ANY_TEXT}'long' and 'nnnnnnnnb'"),
    "encodes": (
        with_keyid(lambda keyid: keyid.encode().decode()),
        f"claim: raised UnicodeEncodeError: .*; expected 'fresh': {ANY_TEXT}",
    ),
    "replaces": (with_keyid(lambda keyid: keyid.encode("utf-8", "replace").decode()), ANY_TEXT),
    "counts the end to the nonce": (
        {"claim": lambda own, keyid, nonce, *, until, **o: claim(own, keyid, f"{nonce} {until}", until=until, **o)},
        "a nonce is seen whatever its end is",
    ),
    "has no cap": (capped(claim, per_key=10**9), "the key's cap is reached"),
    "is never full": ({"full": lambda *_, **__: False}, "the key's cap is reached"),
    "is always full": ({"full": lambda *_, **__: True}, "the cap is not reached"),
    "has no total": (capped(claim, total=None), "the cap of all keys together is reached"),
    "shares the cap": (
        {"full": lambda *given, caps, **options: full(*given, caps=caps._replace(total=caps.per_key), **options)},
        "each key has a cap of its own",
    ),
    "counts the ended": (
        {"full": lambda *given, now, **options: full(*given, now=min(now, time.time() + 100), **options)},
        "an ended nonce does not count",
    ),
    "forgets the content": (
        {"claim": lambda *given, **options: claim(*given, **options | {"content": None})},
        "a nonce with the content that it came with is the same",
    ),
}


class ForgetsBeforeTheEnd(Broken):
    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        if now >= until - 360 and nonce == "n" and self.full(keyid, now=now, caps=caps._replace(per_key=40)):
            return "fresh"
        return super().claim(keyid, nonce, now=now, until=until, caps=caps, content=content)


class ClaimsWhenAsked(Broken):
    def full(self, keyid, *, now, caps):
        full = super().full(keyid, now=now, caps=caps)
        super().claim(keyid, f"asked {time.perf_counter_ns()}", now=now, until=now + 300, caps=caps)
        return full


class CapsBeforeItLooks(Broken):
    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        if self.full(keyid, now=now, caps=caps):
            return "full"
        return super().claim(keyid, nonce, now=now, until=until, caps=caps, content=content)


class TrustsEachClock(Broken):
    def claim(self, keyid, nonce, **options):
        answer = super().claim(keyid, nonce, **options)
        self._forgotten = -1e9
        return answer


class RejectsAfterAStep(Broken):
    latest = 0.0

    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        RejectsAfterAStep.latest = max(now, RejectsAfterAStep.latest)
        if now < RejectsAfterAStep.latest:
            return "seen"
        return super().claim(keyid, nonce, now=now, until=until, caps=caps, content=content)


class LooksThenClaims(Broken):
    def claim(self, keyid, nonce, **options):
        known = len(self)
        if keyid == "race":
            time.sleep(0.001)
        answer = super().claim(keyid, nonce, **options)
        return "fresh" if keyid == "race" and len(self) > known else answer


class LooksThenCounts(Broken):
    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        if keyid == "crowd" and not self.full(keyid, now=now, caps=caps):
            time.sleep(0.001)
            caps = Caps(10**9)
        return super().claim(keyid, nonce, now=now, until=until, caps=caps, content=content)


class TakesEveryContent(Broken):
    def claim(self, keyid, nonce, *, content=None, **options):
        answer = super().claim(keyid, nonce, content=content, **options)
        return "same" if answer == "seen" and content is not None else answer


class ForgetsARepeat(Broken):
    """The end of a nonce stays as it was when it is claimed again."""

    def claim(self, keyid, nonce, **options):
        answer = super().claim(keyid, nonce, **options)
        self._repeated.clear()
        return answer


class ForgetsByTheClockOfTheVerifier(Broken):
    def claim(self, keyid, nonce, *, now, **options):
        self._ahead = now - time.monotonic()
        return super().claim(keyid, nonce, now=now, **options)


class Waits:
    """A store that waits between a question and its answer, and keeps the contract unless a claim is cancelled."""

    def __init__(self) -> None:
        self._inner = MemoryReplayStore()

    def full(self, keyid, **options):
        return self._inner.full(keyid, **options)

    async def claim(self, keyid, nonce, **options):
        answer = self._inner.claim(keyid, nonce, **options)
        await asyncio.sleep(0)
        return answer


class MixesUpAnswers(Waits):
    """A client with one connection, on which a cancelled claim leaves its answer for the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.left = []

    async def claim(self, keyid, nonce, **options):
        self.left.append(await super().claim(keyid, nonce, **options) if not self.left else None)
        await asyncio.sleep(0)
        return self.left.pop(0) or await super().claim(keyid, nonce, **options)


class LeavesAnswers(Broken):
    """A client with one connection, on which an interrupted claim leaves its answer for the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.lock = [], threading.Lock()

    def claim(self, keyid, nonce, **options):
        with self.lock:
            self.look()
            self.left.append(super().claim(keyid, nonce, **options))
            select.select((), (), (), 0)
            return self.left.pop(0)

    def look(self) -> None:
        """Use the connection, whatever is on it."""


class NeverRecovers(LeavesAnswers):
    def look(self) -> None:
        if self.left:
            raise OSError("the connection is spoilt")


class Recovers(LeavesAnswers):
    def look(self) -> None:
        if self.left:
            self.left.clear()
            raise OSError("the connection was spoilt")


class SeenInChildren(Broken):
    def claim(self, keyid, nonce, **options):
        return "seen" if keyid == "forked" else super().claim(keyid, nonce, **options)


class HangsInChildren(Broken):
    def claim(self, keyid, nonce, **options):
        time.sleep(60 if os.getpid() != PARENT else 0)
        return super().claim(keyid, nonce, **options)


class SaysSoInChildren(Broken):
    def claim(self, keyid, nonce, **options):
        if keyid == "forked":
            raise OSError("opened before the fork")
        return super().claim(keyid, nonce, **options)


BROKEN = {
    **{type(name, (Broken,), methods): rule for name, (methods, rule) in SIMPLE.items()},
    ForgetsBeforeTheEnd: "a nonce is live up to and including its end",
    ClaimsWhenAsked: "the cap is not reached",
    CapsBeforeItLooks: "nothing is forgotten to make room",
    TrustsEachClock: "makes no used nonce fresh",
    RejectsAfterAStep: "new nonces are fresh",
    ForgetsByTheClockOfTheVerifier: "rejects no new nonce when it is right",
    ForgetsARepeat: "is live up to and including the later end",
    TakesEveryContent: "a nonce with another content is seen, however often",
    LeavesAnswers: "expected 'seen': after an interrupted claim, a nonce is fresh once",
    NeverRecovers: "raises an exception after an interrupted claim, each time",
    LooksThenClaims: "of 8 at once, one is fresh",
    LooksThenCounts: "the cap lets 100 through",
}


@pytest.mark.parametrize(("store", "rule"), BROKEN.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_error_names_the_rule_that_a_store_breaks(store, rule):
    with pytest.raises(AssertionError, match=rule):
        check_replay_store(store())


@pytest.mark.parametrize(
    ("store", "rule"),
    [
        (MemoryReplayStore, "more than one has accepted a nonce"),
        (SeenInChildren, "reject, after a fork, a new nonce as seen"),
        (HangsInChildren, "hangs in a forked process for 0.5 seconds"),
        (SaysSoInChildren, ""),
    ],
)
def test_error_names_what_a_store_does_after_a_fork(monkeypatch, store, rule):
    monkeypatch.setattr("undersigned.testing.replay_store_contract._LONGEST_CHILD", 30 if "hangs" not in rule else 0.5)
    for check in (check_replay_store_after_fork, lambda one: asyncio.run(check_async_replay_store_after_fork(one))):
        with pytest.raises(AssertionError, match=rule) if rule else contextlib.nullcontext():
            check(store())


def test_error_says_that_a_cancelled_claim_disturbs_another():
    asyncio.run(check_async_replay_store(Waits()))
    with pytest.raises(AssertionError, match="cancelled"):
        asyncio.run(check_async_replay_store(MixesUpAnswers()))


def test_store_that_keeps_the_contract_passes():
    check_replay_store(MemoryReplayStore())
    check_replay_store(Recovers())


@pytest.mark.parametrize("store", [MemoryReplayStore(), Awaited(MemoryReplayStore())], ids=["plain", "awaited"])
def test_asynchronous_store_that_keeps_the_contract_passes(store):
    asyncio.run(check_async_replay_store(store))


def test_error_names_the_rule_that_an_asynchronous_store_breaks():
    with pytest.raises(AssertionError, match=BROKEN[TakesEveryContent]):
        asyncio.run(check_async_replay_store(Awaited(TakesEveryContent())))


def test_awaitable_store_is_rejected_with_the_right_check():
    hidden = Awaited(MemoryReplayStore())
    hidden.blocking = False
    for store in (hidden, Waits()):
        with pytest.raises(AssertionError, match="use check_async_replay_store"):
            check_replay_store(store)

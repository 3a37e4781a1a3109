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

    __slots__ = ()


class Silent(Broken):
    blocking = None


class AnswersNone(Broken):
    def claim(self, keyid, nonce, **options):
        super().claim(keyid, nonce, **options)


class AnswersCount(Broken):
    def full(self, keyid, **options):
        return int(super().full(keyid, **options))


class ForgetsAtOnce(Broken):
    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        return MemoryReplayStore().claim(keyid, nonce, now=now, until=until, caps=caps, content=content)


class JoinsKeyidAndNonce(Broken):
    def claim(self, keyid, nonce, **options):
        return super().claim("", keyid + nonce, **options)


class IgnoresCase(Broken):
    def claim(self, keyid, nonce, **options):
        return super().claim(keyid, nonce.lower(), **options)


class KeepsSomeCharacters(Broken):
    def claim(self, keyid, nonce, **options):
        return super().claim(keyid, nonce[:100], **options)


class ReadsPatterns(Broken):
    def claim(self, keyid, nonce, **options):
        return super().claim(keyid, nonce.replace("*", "0"), **options)


class CountsTheEndToTheNonce(Broken):
    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        return super().claim(keyid, f"{nonce} {until}", now=now, until=until, caps=caps, content=content)


class ForgetsBeforeTheEnd(Broken):
    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        if now >= until - 360 and nonce == "n" and self.full(keyid, now=now, caps=caps._replace(per_key=40)):
            return "fresh"
        return super().claim(keyid, nonce, now=now, until=until, caps=caps, content=content)


class HasNoCap(Broken):
    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        return super().claim(keyid, nonce, now=now, until=until, caps=caps._replace(per_key=10**9), content=content)


class IsNeverFull(Broken):
    def full(self, *_, **__):
        return False


class IsAlwaysFull(Broken):
    def full(self, *_, **__):
        return True


class ClaimsWhenAsked(Broken):
    def full(self, keyid, *, now, caps):
        full = super().full(keyid, now=now, caps=caps)
        super().claim(keyid, f"asked {time.perf_counter_ns()}", now=now, until=now + 300, caps=caps)
        return full


class HasNoTotal(Broken):
    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        return super().claim(keyid, nonce, now=now, until=until, caps=caps._replace(total=None), content=content)


class SharesTheCap(Broken):
    def full(self, keyid, *, now, caps):
        return super().full(keyid, now=now, caps=caps._replace(total=caps.per_key))


class CapsBeforeItLooks(Broken):
    def claim(self, keyid, nonce, *, now, until, caps, content=None):
        if self.full(keyid, now=now, caps=caps):
            return "full"
        return super().claim(keyid, nonce, now=now, until=until, caps=caps, content=content)


class CountsTheEnded(Broken):
    def full(self, keyid, *, now, caps):
        return super().full(keyid, now=min(now, time.time() + 100), caps=caps)


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


class ForgetsTheContent(Broken):
    def claim(self, keyid, nonce, *, content=None, **options):
        del content
        return super().claim(keyid, nonce, **options)


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


class NeedsUnicode(Broken):
    def claim(self, keyid, nonce, **options):
        return super().claim(keyid.encode("utf-8", "replace").decode(), nonce, **options)


class Encodes(Broken):
    def claim(self, keyid, nonce, **options):
        return super().claim(keyid.encode().decode(), nonce, **options)


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


class InMemoryOfEach(Broken):
    """Each process has its own nonces."""


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
    Silent: "blocking: must be True or False",
    AnswersNone: "claim: answered None; expected fresh, same, seen, forgotten or full",
    AnswersCount: "full: answered 0, expected False",
    ForgetsAtOnce: "a nonce is fresh once",
    JoinsKeyidAndNonce: "a claim is for a keyid and a nonce together, of any text: 'ab' and 'c'",
    IgnoresCase: "of any text: 'a' and 'BC'",
    ReadsPatterns: "of any text: ",
    KeepsSomeCharacters: "of any text: 'long' and 'nnnnnnnnb'",
    Encodes: "claim: raised UnicodeEncodeError: .*; expected 'fresh': a claim is for .* of any text: ",
    NeedsUnicode: "of any text: ",
    CountsTheEndToTheNonce: "a nonce is seen whatever its end is",
    ForgetsBeforeTheEnd: "a nonce is live up to and including its end",
    HasNoCap: "the key's cap is reached",
    IsNeverFull: "the key's cap is reached",
    IsAlwaysFull: "the cap is not reached",
    ClaimsWhenAsked: "the cap is not reached",
    HasNoTotal: "the cap of all keys together is reached",
    SharesTheCap: "each key has a cap of its own",
    CapsBeforeItLooks: "nothing is forgotten to make room",
    CountsTheEnded: "an ended nonce does not count",
    TrustsEachClock: "makes no used nonce fresh",
    RejectsAfterAStep: "new nonces are fresh",
    ForgetsTheContent: "a nonce with the content that it came with is the same",
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
        (InMemoryOfEach, "more than one has accepted a nonce"),
        (SeenInChildren, "reject, after a fork, a new nonce as seen"),
        (HangsInChildren, "hangs in a forked process for 0.5 seconds"),
        (SaysSoInChildren, ""),
    ],
)
def test_error_names_what_a_store_does_after_a_fork(monkeypatch, store, rule):
    monkeypatch.setattr("undersigned.testing.replay._LONGEST_CHILD", 30 if "hangs" not in rule else 0.5)
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
    with pytest.raises(AssertionError, match="the key's cap is reached"):
        asyncio.run(check_async_replay_store(Awaited(HasNoCap())))


def test_awaitable_store_is_rejected_with_the_right_check():
    hidden = Awaited(MemoryReplayStore())
    hidden.blocking = False
    for store in (hidden, Waits()):
        with pytest.raises(AssertionError, match="use check_async_replay_store"):
            check_replay_store(store)

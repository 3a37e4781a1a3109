"""The contract of a replay store, as a check to run against a store of your own.

def test_my_store_keeps_the_contract():
    check_replay_store(MyStore(...))
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from inspect import iscoroutine, iscoroutinefunction
from threading import Barrier, Event
from typing import TYPE_CHECKING, cast, get_args

from undersigned.limits import LONGEST_CLOCK_STEP
from undersigned.replay.store import Claim
from undersigned.signature.rules import Caps
from undersigned.testing.contract import ExceptionRaised, finish, naming_exceptions, require
from undersigned.verification.blocking_calls import awaited

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

    from undersigned.replay.store import AsyncReplayStore, ReplayStore

_LIFE = 360
"""Seconds from a claim to its end: five minutes of validity and one of clock skew."""

_LINGER = LONGEST_CLOCK_STEP + 60
"""Seconds after its end that a nonce may still be kept, and count toward a cap."""

_MANY = 40
"""Claims that make a store forget the nonces that have ended, even if it forgets a few at a time."""

_AWAITED = "the store's answers have to be awaited: use check_async_replay_store"

_RACERS, _RACED = 8, 100
_FORKED, _LONGEST_CHILD = 4, 30
_TURNS = 20
"""Turns of the event loop after which a claim is cancelled, one after the other, and calls that are interrupted."""

_WAITING = frozenset({"commit", "execute", "poll", "recv", "recv_into", "select", "send", "sendall"})
"""The names of calls of sockets, selectors and databases that wait."""

_ROOMY = Caps(per_key=1_000_000)

_KEYIDS = ("{}", "}{", "*", "%s", "'\"", "a:b", "a b", "\\", "key" * 100)
_NONCES = (
    *("", "0", "{}", "*", "%s", "'\"", "a:b", "a b", "\\", "\0", "a\0b", "\r\n", "NULL"),
    *("\u00e9", "e\u0301", "\udfff"),
)
_TEXTS = (
    *itertools.product(_KEYIDS, _NONCES),
    *((keyid, "any") for keyid in ("", "\0", "\ud800", "\udfff", "\u00e9", "e\u0301", "\U0001f511")),
    *((f"{text}{end}", "any") for text in ("k" * 10_000,) for end in ("", "l")),
    *(("long", f"{text}{end}") for text in ("n" * 10_000,) for end in "ab"),
    *(("a", "bc"), ("ab", "c"), ("A", "bc"), ("a", "BC")),
)
"""Pairs of keyid and nonce, each of which is another one than all others, whatever they mean to a database."""


def check_replay_store(store: ReplayStore) -> None:
    """Check that `store` keeps the contract of `ReplayStore`, with about 1,500 claims from up to eight threads.

    The store must be empty, and nothing else may use it, because the check moves the time some hours ahead.

    Raises:
        AssertionError: the store breaks the contract; the message says how.
    """
    require(not iscoroutinefunction(store.claim), _AWAITED)
    require(isinstance(getattr(store, "blocking", None), bool), "blocking: must be True or False")
    contract = _Contract(store)
    for check in _CHECKS:
        finish(check(contract), otherwise=_AWAITED)
    barrier = Barrier(_RACERS)

    def race(number: int) -> list[Claim]:
        barrier.wait()
        return finish(_race(contract, number), otherwise=_AWAITED)

    with ThreadPoolExecutor(_RACERS) as pool:
        _check_races(list(pool.map(race, range(_RACERS))))
    _interrupt(contract)


async def check_async_replay_store(store: AsyncReplayStore) -> None:
    """Check that `store` keeps the contract of `AsyncReplayStore`, with tasks instead of threads.

    Raises:
        AssertionError: the store breaks the contract; the message says how.
    """
    contract = _Contract(store)
    for check in (*_CHECKS, _cancelled):
        await check(contract)
    _check_races(await asyncio.gather(*(_race(contract, number) for number in range(_RACERS))))


def check_replay_store_after_fork(store: ReplayStore) -> None:
    """Check that `store` keeps what it promises in processes that are forked while it is in use.

    A server that loads the application before it forks its workers needs that, such as `gunicorn --preload`. A store
    may raise an exception in a child, but it must not answer wrongly there, nor hang. The check forks three processes
    while threads claim nonces. The system must have fork.

    Raises:
        AssertionError: the store accepts a nonce twice, rejects one that is new, or hangs.
    """
    contract, is_over, have_begun = _Contract(store), Event(), Barrier(_FORKED + 1)

    def claim_all(nonces: Iterable[str]) -> None:
        for nonce in nonces:
            finish(contract.claim(_Attempt("before", nonce)), otherwise=_AWAITED)

    claim_all(["first"])
    counted = itertools.takewhile(lambda _: not is_over.is_set(), itertools.count())
    # A tool that traces, as for coverage, has a lock of its own. A thread that it does not trace never has that lock.
    with ThreadPoolExecutor(_FORKED, initializer=partial(sys.settrace, None)) as pool:
        for _ in range(_FORKED):
            pool.submit(have_begun.wait)
        have_begun.wait()
        threads = [pool.submit(claim_all, map(f"{number} {{}}".format, counted)) for number in range(_FORKED)]
        try:
            finish(_forked(contract, partial(finish, otherwise=_AWAITED)), otherwise=_AWAITED)
        finally:
            is_over.set()
        for thread in threads:
            thread.result()


async def check_async_replay_store_after_fork(store: AsyncReplayStore) -> None:
    """As `check_replay_store_after_fork`, with a store that a task has used before the fork.

    Each process has an event loop of its own.

    Raises:
        AssertionError: as `check_replay_store_after_fork`.
    """
    contract = _Contract(store)
    await contract.expect("fresh", _Attempt("before", "n"), "a new nonce is fresh")
    await _forked(contract, asyncio.run)


async def _forked(contract: _Contract, run: Callable[[Coroutine[object, object, None]], None]) -> None:
    """Fork three processes that claim what this one claims, and compare their answers. `run` runs a coroutine there."""
    fork = multiprocessing.get_context("fork")
    children: list[ForkProcess] = []
    receivers: list[Connection] = []
    for number in reversed(range(_FORKED)):
        receiver, sender = fork.Pipe(duplex=False)
        receivers.append(receiver)
        if number == 0:
            await _report(contract, number, sender)
            continue
        process = fork.Process(target=lambda *of: run(_report(contract, *of)), args=(number, sender), daemon=True)
        with warnings.catch_warnings():
            # Python 3.12 and later say that a process with threads forks, which is what is checked.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        children.append(process)
    answers: list[list[str]] = [one.recv() if one.poll(_LONGEST_CHILD) else [] for one in receivers]
    for process in children:
        process.kill()
        process.join()
    require(all(answers), f"claim: hangs in a forked process for {_LONGEST_CHILD} seconds")
    for claims in zip(*answers, strict=True):
        fresh, errors = claims.count("fresh"), claims.count("error")
        require(fresh <= 1, f"claim: of {_FORKED} processes after a fork, more than one has accepted a nonce: {claims}")
        require(fresh or errors, f"claim: {_FORKED} processes reject, after a fork, a new nonce as seen: {claims}")


async def _report(contract: _Contract, number: int, sender: Connection) -> None:
    """Send what a process is answered to all nonces, which it claims in an order of its own."""
    answers = [""] * _RACED
    for at in sorted(range(_RACED), key=lambda at: (at + number * _RACED // _FORKED) % _RACED):
        try:
            answers[at] = await contract.claim(_Attempt("forked", str(at)))
        except ExceptionRaised:
            # A store may say in its own way that it is unavailable.
            answers[at] = "error"
    sender.send(answers)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A claim, with times in seconds from the start of the check."""

    keyid: str
    nonce: str
    at: float = 0
    until: float = _LIFE
    caps: Caps = _ROOMY
    content: str | None = None


class _Contract:
    """The store under check, and the time at which the check of each rule starts."""

    def __init__(self, store: ReplayStore | AsyncReplayStore) -> None:
        self._store = store
        self._start = int(time.time())

    def ask(self, attempt: _Attempt) -> Claim | Awaitable[Claim]:
        now, until = self._start + attempt.at, self._start + attempt.until
        options = {} if attempt.content is None else {"content": attempt.content}
        return self._store.claim(attempt.keyid, attempt.nonce, now=now, until=until, caps=attempt.caps, **options)

    async def claim(self, attempt: _Attempt, expected: str = "an answer") -> Claim:
        with naming_exceptions("claim", expected):
            answer = await awaited(self.ask(attempt))
        require(answer in get_args(Claim), f"claim: answered {answer!r}; expected fresh, same, seen, forgotten or full")
        # A store need not tell whether it knows a nonce, or has forgotten whether it knew it.
        return "seen" if answer == "forgotten" else cast("Claim", answer)

    async def expect(self, expected: Claim, attempt: _Attempt, rule: str) -> None:
        answer = await self.claim(attempt, f"{expected!r}: {rule}")
        require(answer == expected, f"claim: answered {answer!r}, expected {expected!r}: {rule}")

    async def expect_full(self, attempt: _Attempt, rule: str, *, expected: bool = True) -> None:
        """Ask whether a cap is reached for the key ID of `attempt`, whose nonce is not used."""
        now = self._start + attempt.at
        with naming_exceptions("full", f"{expected!r}: {rule}"):
            answer = await awaited(self._store.full(attempt.keyid, now=now, caps=attempt.caps))
        require(answer is expected, f"full: answered {answer!r}, expected {expected!r}: {rule}")

    async def expect_room(self, attempt: _Attempt, rule: str) -> None:
        await self.expect_full(attempt, rule, expected=False)

    def advance(self, seconds: float) -> None:
        """Start the next check `seconds` later, when the nonces of this one have ended."""
        self._start += int(seconds) + 2 * _LIFE

    async def pass_time(self, keyid: str, *, at: float) -> None:
        """Make claims, so that the store forgets what has ended at `at`."""
        for number in range(_MANY):
            attempt = _Attempt(keyid, f"later {at} {number}", at=at, until=at + _LIFE)
            await self.expect("fresh", attempt, "a new nonce is fresh")


async def _once(contract: _Contract) -> None:
    await contract.expect("fresh", _Attempt("once", "n"), "a new nonce is fresh")
    await contract.expect("seen", _Attempt("once", "n"), "a nonce is fresh once")
    await contract.expect("seen", _Attempt("once", "n", until=2 * _LIFE), "a nonce is seen whatever its end is")
    await contract.expect("seen", _Attempt("once", "n", until=_LIFE - 1), "a nonce is seen whatever its end is")


async def _any_text(contract: _Contract) -> None:
    for keyid, nonce in _TEXTS:
        rule = f"a claim is for a keyid and a nonce together, of any text: {keyid[:9]!a} and {nonce[-9:]!a}"
        await contract.expect("fresh", _Attempt(keyid, nonce), rule)
        await contract.expect("seen", _Attempt(keyid, nonce), rule)


async def _last_moment(contract: _Contract) -> None:
    await contract.expect("fresh", _Attempt("last moment", "n"), "a new nonce is fresh")
    await contract.pass_time("last moment", at=_LIFE)
    await contract.expect("seen", _Attempt("last moment", "n", at=_LIFE), "a nonce is live up to and including its end")
    contract.advance(_LIFE + _LINGER)


async def _cap(contract: _Contract) -> None:
    caps = Caps(per_key=3)
    for nonce in "abc":
        await contract.expect_room(_Attempt("cap", "", caps=caps), "the cap is not reached")
        await contract.expect_room(_Attempt("cap", "", caps=caps), "asking claims nothing")
        await contract.expect("fresh", _Attempt("cap", nonce, caps=caps), "the cap is not reached")
    await contract.expect_full(_Attempt("cap", "", caps=caps), "the key's cap is reached")
    await contract.expect("full", _Attempt("cap", "d", caps=caps), "the key's cap is reached")
    await contract.expect("seen", _Attempt("cap", "a", caps=caps), "nothing is forgotten to make room")
    await contract.expect_room(_Attempt("another", "", caps=caps), "each key has a cap of its own")
    await contract.expect("fresh", _Attempt("another", "d", caps=caps), "each key has a cap of its own")
    after = _LIFE + _LINGER
    await contract.expect_room(_Attempt("cap", "", at=after, caps=caps), "an ended nonce does not count")
    later = _Attempt("cap", "e", at=after, until=after + _LIFE, caps=caps)
    await contract.expect("fresh", later, "an ended nonce does not count")
    contract.advance(after)


async def _total(contract: _Contract) -> None:
    full, roomy = Caps(per_key=10, total=1), Caps(per_key=10, total=1_000_000_000)
    await contract.expect("fresh", _Attempt("one", "n", caps=roomy), "the cap of all keys is not reached")
    await contract.expect_full(_Attempt("two", "", caps=full), "the cap of all keys together is reached")
    await contract.expect("full", _Attempt("two", "n", caps=full), "the cap of all keys together is reached")
    await contract.expect("seen", _Attempt("one", "n", caps=full), "nothing is forgotten to make room")
    await contract.expect("fresh", _Attempt("two", "n", caps=roomy), "the cap of all keys is not reached")


async def _clock_set_back(contract: _Contract) -> None:
    """Move the clock ahead by each number of seconds, then back, as a wrong clock or two workers do."""
    for step in (60, 3600, 7200):
        keyid, ahead = f"clock {step}", _LIFE - 30 + step
        await contract.expect("fresh", _Attempt(keyid, "n"), "a new nonce is fresh")
        await contract.pass_time(keyid, at=ahead)
        back = _Attempt(keyid, "n", at=_LIFE - 30)
        await contract.expect("seen", back, f"a clock that is {step} s behind makes no used nonce fresh")
        new = _Attempt(keyid, "o", at=_LIFE - 30, until=2 * _LIFE - 30)
        await contract.expect("fresh", new, f"after a clock was set back {step} s, new nonces are fresh")
        contract.advance(ahead + _LINGER)


async def _clock_ahead(contract: _Contract) -> None:
    """Move the clocks of verifier and senders ten minutes ahead, and right again."""
    keyid, ahead = "clock ahead", 600
    await contract.expect("fresh", _Attempt(keyid, "n"), "a new nonce is fresh")
    await contract.pass_time(keyid, at=ahead)
    right = _Attempt(keyid, "n", at=10)
    await contract.expect("seen", right, "a clock that was ahead makes no used nonce fresh")
    for number in range(0, _LIFE, 20):
        new = _Attempt(keyid, f"right {number}", at=10, until=10 + number)
        await contract.expect("fresh", new, "a clock that was ten minutes ahead rejects no new nonce when it is right")
    contract.advance(ahead + _LINGER)


async def _content(contract: _Contract) -> None:
    """Check the contents that nonces come with. A content may count as one more nonce."""
    caps = Caps(per_key=4)
    first, other = (_Attempt("content", "n", caps=caps, content=content) for content in "cd")
    await contract.expect("fresh", first, "a new nonce is fresh")
    for _ in range(3):
        await contract.expect("same", first, "a nonce with the content that it came with is the same")
        await contract.expect("seen", other, "a nonce with another content is seen, however often")
    await contract.expect("seen", replace(first, content=None), "a nonce is fresh once, whatever its content is")
    await contract.expect("fresh", replace(first, nonce="o"), "each nonce has its own content")
    full = [await contract.claim(replace(first, nonce=f"p {number}")) for number in range(3)]
    require(full[-1] == "full", "claim: the key's cap is reached, also with contents")
    await contract.expect("fresh", _Attempt("content", "plain"), "a new nonce is fresh")
    await contract.expect("seen", _Attempt("content", "plain", content=""), "a nonce without a content had another one")
    with_total = _Attempt("other content", "n", caps=Caps(per_key=10, total=1_000_000_000), content="c")
    await contract.expect("fresh", with_total, "the cap of all keys is not reached")
    await contract.expect("same", with_total, "a nonce with the content that it came with is the same")
    after = _LIFE + _LINGER
    await contract.pass_time("content", at=after)
    later = _Attempt("content", "n", at=after, until=after + _LIFE, content="d")
    await contract.expect("fresh", later, "an ended nonce is fresh again")
    await contract.expect("seen", replace(later, content="c"), "the content of an ended nonce is forgotten with it")
    await contract.expect("same", later, "a nonce with the content that it came with is the same")
    contract.advance(after)


async def _repeated(contract: _Contract) -> None:
    """Claim a nonce again shortly before its end, as whoever repeats a request does."""
    rule = "a nonce that was claimed again with its content is live up to and including the later end"
    for keyid, caps in (("repeated", _ROOMY), ("repeated with a total", Caps(per_key=1000, total=1_000_000_000))):
        first = _Attempt(keyid, "n", caps=caps, content="c")
        await contract.expect("fresh", first, "a new nonce is fresh")
        again = replace(first, at=_LIFE - 1, until=2 * _LIFE + _LINGER)
        for until in (again.until, _LIFE):
            await contract.expect("same", replace(again, until=until), "a nonce with its content is the same")
        await contract.pass_time(keyid, at=again.until)
        await contract.expect("seen", replace(again, at=again.until, until=2 * again.until, content="d"), rule)
        contract.advance(again.until + _LINGER)


async def _cancelled(contract: _Contract) -> None:
    """Cancel claims at each point. A cancelled claim may have been made, but no other claim gets its answer."""
    await contract.expect("fresh", _Attempt("cancelled", "known"), "a new nonce is fresh")
    for turns in range(_TURNS):
        claims = [asyncio.ensure_future(contract.claim(_Attempt("cancelled", f"{turns} {one}"))) for one in range(2)]
        for _ in range(turns):
            await asyncio.sleep(0)
        claims[0].cancel()
        await asyncio.gather(*claims, return_exceptions=True)
        require(claims[1].result() == "fresh", "claim: a new nonce is fresh, also if a claim beside it is cancelled")
        await contract.expect("seen", _Attempt("cancelled", "known"), "after a cancelled claim, a nonce is fresh once")
        await contract.expect("fresh", _Attempt("cancelled", f"{turns} new"), "after it, a new nonce is fresh")
        await contract.claim(_Attempt("cancelled", f"{turns} 0"))
        await contract.expect("seen", _Attempt("cancelled", f"{turns} 0"), "a nonce of a cancelled claim is fresh once")


class _Interruption(BaseException):
    """What ends a claim, as a timeout of gevent does."""


def _interrupt(contract: _Contract) -> None:
    """Interrupt a claim at each call in which it waits. It may have been made, but no other claim gets its answer."""
    known, before = _Attempt("interrupted", "known"), sys.getprofile()
    finish(contract.expect("fresh", known, "a new nonce is fresh"), otherwise=_AWAITED)
    turn = 0
    while True:
        try:
            sys.setprofile(_interruption_of(turn))
            contract.ask(_Attempt("interrupted", str(turn)))
            break
        except _Interruption:
            pass
        finally:
            sys.setprofile(before)
        finish(_look_after_an_interruption(contract, known, turn), otherwise=_AWAITED)
        turn += 1


def _interruption_of(turn: int) -> Callable[[object, str, object], object]:
    """Return a profile function that raises an interruption in place of one call that waits, of those before none."""
    # A generator that has not begun raises what is thrown into it.
    interruption: Callable[[], object] = partial((_ for _ in ()).throw, _Interruption)
    waits = iter((*itertools.repeat(bool, turn), interruption))
    return lambda _, event, call: (
        event == "c_call"
        and getattr(call, "__name__", "") in _WAITING
        # Whoever sends something into a coroutine does not wait.
        and not iscoroutine(getattr(call, "__self__", None))
        and next(waits)()
    )


async def _look_after_an_interruption(contract: _Contract, known: _Attempt, turn: int) -> None:
    for number in range(_TURNS):
        try:
            await contract.expect("seen", known, "after an interrupted claim, a nonce is fresh once")
            new = _Attempt("interrupted", f"{turn} {number}")
            await contract.expect("fresh", new, "after an interrupted claim, a new nonce is fresh")
            await contract.claim(_Attempt("interrupted", str(turn)))
            await contract.expect("seen", _Attempt("interrupted", str(turn)), "a nonce is fresh once, also then")
        except ExceptionRaised:
            # A store may say that a connection is spoilt.
            continue
        return
    raise AssertionError("claim: raises an exception after an interrupted claim, each time")


_CHECKS = (_once, _any_text, _last_moment, _cap, _total, _clock_set_back, _clock_ahead, _content, _repeated)


async def _race(contract: _Contract, racer: int) -> list[Claim]:
    """Claim nonces that all racers claim, then own ones up to a cap."""
    caps = Caps(per_key=_RACED)
    attempts = [_Attempt("race", str(number)) for number in range(_RACED)]
    attempts += [_Attempt("crowd", f"{racer} {number}", caps=caps) for number in range(_RACED // 4)]
    return [await contract.claim(attempt) for attempt in attempts]


def _check_races(answers: Sequence[Sequence[Claim]]) -> None:
    for claims in zip(*(answer[:_RACED] for answer in answers), strict=True):
        is_one = sorted(claims) == ["fresh", *["seen"] * (_RACERS - 1)]
        require(is_one, f"claim: of {_RACERS} at once, one is fresh: {claims}")
    fresh = sum(answer[_RACED:].count("fresh") for answer in answers)
    require(fresh == _RACED, f"claim: of {_RACERS * _RACED // 4} at once, the cap lets {_RACED} through, not {fresh}")

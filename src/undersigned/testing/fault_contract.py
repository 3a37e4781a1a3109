"""The contract of a key source whose keys come from elsewhere: what holds while that neighbour fails.

`check_faults(Neighbour)` and `check_async_faults(Neighbour)` go through the table `CELLS` with each of `FAULTS`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sys
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager
from inspect import iscoroutinefunction
from logging.handlers import BufferingHandler
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from undersigned.discovery.key_sources import KeySources
from undersigned.message.header_fields import HeaderFields
from undersigned.signature.key_source import KeyLookup
from undersigned.testing.contract import finish, require
from undersigned.verification.blocking_calls import awaited, from_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from undersigned.signature.key_source import AsyncKeySource
    from undersigned.signature.verification_key import VerificationKey

FAULTS: Final = (
    *("refused", "reset", "timeout", "slow drip", "4xx", "429", "5xx", "HTML", "empty", "cut", "too large"),
    *("protocol error", "wrong type", "old answer"),
)
"""What a neighbour does instead of a well-formed answer."""


class Cell(NamedTuple):
    """What holds in a state while a neighbour fails, whatever the fault.

    Attributes:
        owner: what becomes of a request of the owner of the key.
        stranger: what becomes of a request with a key ID that nobody has.
        kept: what is kept.
        asked: when the neighbour is asked again.
        log: what the log says.
    """

    owner: str
    stranger: str
    kept: str
    asked: str
    log: str


_AGAIN, _WARNED = "once in an interval", "one warning"
CELLS: Final = {
    "never asked": Cell("503", "503", "nothing", f"{_AGAIN}, sooner at first", _WARNED),
    "fresh": Cell("let in", "503 or 401", "the keys", f"for an unknown key, {_AGAIN}", _WARNED),
    "expired": Cell("let in; 503 when too old", "503", "the keys, while not too old", _AGAIN, _WARNED),
    "withdrawn": Cell("503 or 401", "503 or 401", "that it is withdrawn", _AGAIN, _WARNED),
    "two owners": Cell("503, never the other's", "503", "whose the key is", _AGAIN, _WARNED),
}
"""What holds in each state. A well-formed answer ends it: the owner is let in."""


class Neighbour(ABC):
    """Where the keys of a source come from, under the control of a test. It has one key, and is well at first.

    Attributes:
        keyid: the key ID of the key.
        fresh: for how many seconds the source uses what it was told without asking again; 0: it keeps nothing.
        stale: for how many seconds more it does if asking again fails; infinity: as long as it fails, and the source
            cannot be made without an answer, such as one that reads a file.
        interval: the seconds after which it asks again.
        logger: the name of the logger that warns of a fault; "": none does.
    """

    keyid: str
    fresh = stale = 0.0
    interval = 30.0
    logger = ""

    @abstractmethod
    def source(self) -> AsyncKeySource:
        """Return a new source, which knows nothing."""

    @abstractmethod
    def answer(self, fault: str) -> None:
        """From now on, answer with one of `FAULTS`, well (""), or well and without the key ("withdrawn")."""

    @abstractmethod
    def advance(self, seconds: float) -> None:
        """Let time pass by the clock of the source, after what is under way has ended."""

    @abstractmethod
    def asked(self) -> int:
        """Return how many questions have come. The source may ask several for one answer."""

    def lookup(self, keyid: str) -> KeyLookup:
        """Return the lookup of a request with this key ID."""
        fields = HeaderFields(())
        return KeyLookup(keyid, {"keyid": keyid}, frozenset(), "GET", "https://seller.example.com/", fields)


def check_faults(make: Callable[[], Neighbour], *, faults: Iterable[str] = FAULTS) -> None:
    """Check that a source keeps the contract while its neighbour fails.

    Args:
        make: makes a neighbour for each cell.
        faults: those that the neighbour can have.

    Raises:
        AssertionError: it does not. The message names the cell and the fault.
    """
    for fault in faults:
        for state in CELLS:
            awaited_by = f"{state}, {fault}: the source has to be awaited: use check_async_faults"
            trial = _Trial(make(), state, fault, is_async=False)
            require(not trial.is_awaited, awaited_by)
            finish(trial.run(), otherwise=awaited_by)


async def check_async_faults(make: Callable[[], Neighbour], *, faults: Iterable[str] = FAULTS) -> None:
    """As `check_faults`, with the source asked in tasks.

    Raises:
        AssertionError: as `check_faults`, or the source blocks the event loop.
    """
    for fault in faults:
        for state in CELLS:
            blocked = math.inf
            for _ in range(2):
                # A busy machine holds a task up as well, but hardly twice.
                if blocked > _LONGEST_BLOCKED:
                    trial = _Trial(make(), state, fault, is_async=True)
                    await trial.run()
                    blocked = min(blocked, trial.blocked)
            require(blocked <= _LONGEST_BLOCKED, f"{state}, {fault}: the source blocks the event loop")


_BEAT, _LONGEST_BLOCKED = 0.01, 0.2
"""Seconds between two looks whether the event loop runs, and those that it may stand still."""


class _Copier:
    """The source of a signer who publishes another's key."""

    blocking = False

    def __init__(self) -> None:
        self.keys: Sequence[VerificationKey] = ()

    def find(self, lookup: KeyLookup) -> Sequence[VerificationKey]:
        return [key for key in self.keys if key.keyid == lookup.keyid]


class _Trial:
    """A cell of the table under check."""

    def __init__(self, neighbour: Neighbour, state: str, fault: str, *, is_async: bool) -> None:
        self._is_async, self.blocked, self._felt = is_async, 0.0, 0.0
        self._neighbour, self._state, self._fault = neighbour, state, fault
        self._copier = _Copier()
        source = neighbour.source()
        if state == "two owners":
            source = KeySources({"copier": self._copier, "owner": source}, clock=self._clock)
        self.is_awaited = iscoroutinefunction(source.find)
        self._find: Callable[[KeyLookup], object] = from_tasks(source, "find") if is_async else source.find
        self._now = 0.0

    def _clock(self) -> float:
        return self._now

    async def run(self) -> None:
        """Bring the source into the state, let the neighbour fail, and then be well again."""
        neighbour, state = self._neighbour, self._state
        lasts = neighbour.stale == math.inf
        kept = neighbour.fresh + (0 if lasts else neighbour.stale)
        lets_in = kept > 0 and (state != "withdrawn" if lasts else state in {"fresh", "expired"})
        if state != "never asked":
            self._copier.keys = ()
            found = await self._ask()
            self._require(isinstance(found, list) and found, "has no key while the neighbour is well")
            self._copier.keys = cast("list[VerificationKey]", found)
        if state == "withdrawn":
            neighbour.answer("withdrawn")
            self._advance(neighbour.fresh + neighbour.interval)
            await self._ask()
            self._advance(0)
        with _heard(neighbour.logger) as heard:
            neighbour.answer(self._fault)
            self._advance({"expired": neighbour.fresh, "two owners": kept + neighbour.interval}.get(state, 0))
            before = neighbour.asked()
            for _ in range(3):
                await self._check(lets_in=lets_in)
            self._advance(0)
            asked = neighbour.asked() - before
            for number in range(9):
                await self._ask(f"nobody {number}")
            self._advance(0)
            most = 2 * max(asked, 1)
            self._require(
                not kept or neighbour.asked() - before <= most,
                f"asked the neighbour more than {most} times at once; expected one question in {neighbour.interval:g} "
                "seconds, however many keyids are unknown",
            )
            await self._check(lets_in=lets_in)
            if state == "expired":
                self._advance(kept + neighbour.interval)
                await self._check(lets_in=lasts)
            has_asked = neighbour.asked() > before
        if neighbour.logger and has_asked:
            self._require(len(heard) in {1, 2}, f"has {len(heard)} lines in the log; expected one")
        neighbour.answer("")
        self._advance(kept + 2 * neighbour.interval)
        await self._ask()
        self._advance(1)
        await self._check(lets_in=True)

    async def _check(self, *, lets_in: bool) -> None:
        found = await self._ask()
        owners = {key.owner for key in found} if isinstance(found, list) else set[str]()
        self._require("copier" not in owners, "lets the owner of the copied key pass as the copier")
        self._require(
            bool(owners) is lets_in, f"answers {found!r} to the owner; expected {'keys' if lets_in else 'none'}"
        )
        if self._state == "never asked" and not lets_in:
            self._require(isinstance(found, Exception), "calls the key unknown, although nobody could be asked")
        found = await self._ask("nobody")
        self._require(isinstance(found, Exception) or not found, "has a key for an unknown keyid")

    async def _ask(self, keyid: str = "") -> list[VerificationKey] | Exception:
        lookup = self._neighbour.lookup(keyid or self._neighbour.keyid)
        self._felt = time.monotonic()
        pulse = asyncio.ensure_future(self._beat()) if self._is_async else None
        try:
            return list(cast("Sequence[VerificationKey]", await awaited(self._find(lookup))))
        except Exception as failure:  # noqa: BLE001 - a source may raise anything
            return failure
        finally:
            self._feel()
            if pulse is not None:
                pulse.cancel()

    async def _beat(self) -> None:
        while True:
            self._feel()
            await asyncio.sleep(_BEAT)

    def _feel(self) -> None:
        now = time.monotonic()
        self.blocked, self._felt = max(self.blocked, now - self._felt), now

    def _advance(self, seconds: float) -> None:
        self._neighbour.advance(seconds)
        self._now += seconds

    def _require(self, kept: object, broken: str) -> None:
        require(kept, f"{self._state}, {self._fault}: the source {broken}")


@contextmanager
def _heard(name: str) -> Generator[list[logging.LogRecord]]:
    """Yield what a logger warns of meanwhile, although the program may have turned its warnings off."""
    logger, handler = logging.getLogger(name or __name__), BufferingHandler(sys.maxsize)
    level, disabled = logger.level, logger.manager.disable
    handler.setLevel(logging.WARNING)
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    logging.disable(logging.NOTSET)
    try:
        yield handler.buffer
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logging.disable(disabled)

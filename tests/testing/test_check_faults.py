"""The check of a source whose neighbour fails finds what the table forbids, and names the cell."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest
from tests.discovery.test_faults import Database
from tests.keys import PUBLIC

from undersigned import VerificationKey
from undersigned.testing import check_async_faults, check_faults

KEY = VerificationKey.from_jwk(PUBLIC)


def finding(find, **attributes):
    """A source that finds something else while it cannot ask."""
    return type("Finding", (Database,), {"find": lambda own, asked: find(own.fault, asked, own), **attributes})


def known(_fault, asked, own):
    return Database.find(own, asked)


SIMPLE = {
    "never asked, 429: the source answers .* to the owner; expected none": finding(
        lambda fault, *asked: [KEY] if fault == "429" else known(fault, *asked)
    ),
    "never asked, 5xx: the source calls the key unknown": finding(
        lambda fault, *asked: [] if fault else known(fault, *asked)
    ),
    "fresh, 5xx: the source answers .* expected keys": finding(known, fresh=60.0),
    "never asked, 5xx: the source has a key for an unknown keyid": finding(
        lambda fault, asked, own: [KEY] if fault and asked.keyid != own.keyid else known(fault, asked, own)
    ),
    "never asked, 5xx: the source answers .* expected keys": finding(
        lambda fault, *asked: known(fault, *asked) if fault else []
    ),
}


class Trusts(Database):
    """A source that keeps a key, whatever it is told later."""

    fresh, stale = 60.0, 600.0
    knows = False

    def find(self, asked):
        if self.knows and asked.keyid == self.keyid:
            return [KEY]
        found = super().find(asked)
        self.knows = bool(found) or self.knows
        return found


class Asks(Database):
    """A source that keeps a key, and asks for every stranger."""

    fresh = 60.0
    count, found = 0, ()

    def find(self, asked):
        self.count += 1
        self.found = self.found or super().find(asked)
        return self.found if asked.keyid == self.keyid else []

    def asked(self):
        return self.count**2


class Silent(Database):
    """A source that warns of nothing."""

    logger = "undersigned.discovery"
    count = 0

    def find(self, asked):
        self.count += 1
        return super().find(asked)

    def asked(self):
        return self.count


class Remembers(Database):
    """A source that forgets a withdrawal when it is told nothing new."""

    fresh, stale = 60.0, 600.0
    now, until = 0.0, 0.0

    def find(self, asked):
        if self.fault and asked.keyid == self.keyid and self.fault != "withdrawn" and self.now < self.until:
            return [KEY]
        found = super().find(asked)
        self.until = self.now + 660 if found else self.until
        return found

    def advance(self, seconds):
        self.now += seconds


class Blocks(Database):
    """A source for tasks that keeps the event loop from running while it waits."""

    async def find(self, asked):
        time.sleep(0.02 if self.fault == "timeout" else 0)  # noqa: ASYNC251 - the fault
        return super().find(asked)


class Awaited(Database):
    def find(self, asked):
        return asyncio.sleep(0, super().find(asked))


BROKEN = {
    Remembers: "withdrawn, 5xx: the source answers .* to the owner; expected none",
    Trusts: "expired, 5xx: the source answers .* expected none",
    Asks: "never asked, 5xx: the source asked the neighbour more than",
    Silent: "never asked, 5xx: the source has 0 lines in the log",
}


@pytest.mark.parametrize(("kind", "fault"), [*BROKEN.items(), *((kind, fault) for fault, kind in SIMPLE.items())])
def test_error_of_the_check_names_the_cell_and_the_fault(kind, fault):
    with pytest.raises(AssertionError, match=f"^{fault}"):
        check_faults(kind, faults=["5xx", "429"])
    with pytest.raises(AssertionError, match=f"^{fault}"):
        asyncio.run(check_async_faults(kind, faults=["5xx", "429"]))


def test_source_that_blocks_the_event_loop_is_named(monkeypatch):
    monkeypatch.setattr("undersigned.testing.fault_contract._LONGEST_BLOCKED", 0.015)
    with pytest.raises(AssertionError, match=r"^never asked, timeout: the source blocks the event loop$"):
        asyncio.run(check_async_faults(Blocks, faults=["timeout"]))


class Warns(Silent):
    """A source that warns of each fault once."""

    has_warned = False

    def find(self, asked):
        if self.fault == "5xx" and not self.has_warned:
            self.has_warned = True
            logging.getLogger(self.logger).warning("down")
        return super().find(asked)


def test_warnings_count_although_the_program_has_turned_them_off():
    logger = logging.getLogger(Warns.logger)
    logging.disable()
    logger.setLevel(logging.CRITICAL)
    try:
        check_faults(Warns, faults=["5xx"])
        assert (logger.level, logging.root.manager.disable) == (logging.CRITICAL, logging.CRITICAL)
    finally:
        logging.disable(logging.NOTSET)
        logger.setLevel(logging.NOTSET)


@pytest.mark.parametrize("kind", [Awaited, Blocks])
def test_source_for_tasks_is_rejected_with_the_right_check(kind):
    with pytest.raises(
        AssertionError, match=r"^never asked, 5xx: the source has to be awaited: use check_async_faults"
    ):
        check_faults(kind, faults=["5xx"])

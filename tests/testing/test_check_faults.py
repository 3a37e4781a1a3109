"""The check of a source whose neighbour fails finds what the table forbids, and names the cell."""

from __future__ import annotations

import asyncio

import pytest
from tests.discovery.test_faults import Database
from tests.keys import PUBLIC, lookup

from undersigned import VerificationKey
from undersigned.testing import check_async_faults, check_faults

KEY = VerificationKey.from_jwk(PUBLIC)


class CallsUnknown(Database):
    """A source that takes a fault for an answer."""

    def find(self, asked):
        return [] if self.fault else super().find(asked)


class Forgets(Database):
    """A source that claims to keep what it was told."""

    fresh = 60.0


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


class Guesses(Database):
    """A source that has a key for anybody while it cannot ask."""

    def find(self, asked):
        return super().find(asked) if not self.fault or asked.keyid == self.keyid else [KEY]


class Empty(Database):
    """A source without the key."""

    def find(self, asked):
        return [] if not self.fault else super().find(asked)


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


BROKEN = {
    CallsUnknown: "never asked, 5xx: the source calls the key unknown",
    Forgets: "fresh, 5xx: the source answers .* expected keys",
    Trusts: "expired, 5xx: the source answers .* expected none",
    Guesses: "never asked, 5xx: the source has a key for an unknown keyid",
    Empty: "never asked, 5xx: the source answers .* expected keys",
    Asks: "never asked, 5xx: the source asked the neighbour more than",
    Silent: "never asked, 5xx: the source has 0 lines in the log",
}


@pytest.mark.parametrize(("kind", "fault"), BROKEN.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_error_of_the_check_names_the_cell_and_the_fault(kind, fault):
    with pytest.raises(AssertionError, match=f"^{fault}"):
        check_faults(kind, faults=["5xx"])
    with pytest.raises(AssertionError, match=f"^{fault}"):
        asyncio.run(check_async_faults(kind, faults=["5xx"]))


def test_lookup_of_a_neighbour_is_that_of_a_request_with_the_keyid():
    assert Database().lookup("k").keyid == lookup("k").keyid

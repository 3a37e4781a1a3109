from __future__ import annotations

import pytest

from undersigned.discovery.allowance import Allowance
from undersigned.errors import ConfigurationError, KeySourceError


@pytest.fixture
def allowance(clock):
    return Allowance(at_once=2, a_minute=2, clock=clock)


def test_known_url_is_fetched_although_new_ones_used_up_the_minute(allowance, clock):
    for _ in range(2):
        allowance.check()
        allowance.begin(is_known=False)
        allowance.end()
    with pytest.raises(KeySourceError):
        allowance.begin(is_known=False)
    allowance.begin(is_known=True)
    clock.now += 30
    allowance.begin(is_known=False)


def test_no_url_is_fetched_while_too_many_fetches_are_in_flight(allowance):
    for _ in range(2):
        allowance.begin(is_known=True)
    for ask in (allowance.check, lambda: allowance.begin(is_known=True)):
        with pytest.raises(KeySourceError) as raised:
            ask()
        assert (raised.value.reason, raised.value.retry_after) == ("signature_jwks_unavailable", 1)
    allowance.end()
    allowance.begin(is_known=True)


def test_quiet_time_allows_no_more_than_one_minute_does(allowance, clock):
    clock.now += 3600
    for _ in range(2):
        allowance.begin(is_known=False)
        allowance.end()
    with pytest.raises(KeySourceError):
        allowance.check()


@pytest.mark.parametrize(("at_once", "a_minute", "named"), [(0, 1, "most_at_once"), (1, 0, "most_a_minute")])
def test_allowance_is_at_least_one_of_each(clock, at_once, a_minute, named):
    with pytest.raises(ConfigurationError, match=f"^{named}: give a whole number of fetches, at least 1"):
        Allowance(at_once=at_once, a_minute=a_minute, clock=clock)
    Allowance(at_once=1, a_minute=1, clock=clock).begin(is_known=False)

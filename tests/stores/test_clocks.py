from __future__ import annotations

import time

import pytest
from tests.keys import NOW
from tests.replay.clocks import check_heals, check_skew, check_steps
from tests.stores.kinds import KINDS, kind_of


@pytest.mark.parametrize("check", [check_steps, check_skew])
@pytest.mark.parametrize("name", [name for name in KINDS if name != "sqlite"])
def test_wrong_clocks_admit_no_replay(name, check, request):
    with kind_of(name, request).opened() as store:
        check(store)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "sqlite"])
def test_clocks_that_were_ten_minutes_ahead_reject_no_fresh_request_when_they_are_right(name, request):
    for start in (NOW, time.time()):
        with kind_of(name, request).opened() as store:
            check_heals(store, start)

from __future__ import annotations

import time

import pytest
from tests.keys import NOW
from tests.replay.clocks import check_heals, check_skew, check_steps

from undersigned import MemoryReplayStore, SqliteReplayStore


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryReplayStore()
    else:
        with SqliteReplayStore(tmp_path / "replay.sqlite", survives_power_loss=False) as opened:
            yield opened


def test_clock_that_steps_an_hour_either_way_admits_no_replay(store):
    check_steps(store)


def test_clocks_that_differ_by_the_skew_admit_no_replay_and_every_new_request(store):
    check_skew(store)


@pytest.mark.parametrize("start", [lambda: NOW, time.time], ids=["far", "near"])
def test_clocks_that_were_ten_minutes_ahead_reject_no_fresh_request_when_they_are_right(store, start):
    check_heals(store, start())

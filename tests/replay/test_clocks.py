from __future__ import annotations

import pytest
from tests.replay.clocks import check_skew, check_steps

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

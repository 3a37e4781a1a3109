from __future__ import annotations

import math

import pytest

from undersigned.message.timestamps import read_time


@pytest.mark.parametrize("text", ["2026-04-18T14:00:00Z", "2026-04-18T16:00:00+02:00", "2026-04-18T14:00:00.000Z"])
def test_time_with_a_zone_is_seconds_since_the_epoch(text):
    assert read_time(text) == 1_776_520_800


@pytest.mark.parametrize(
    "value",
    ["2026-04-18T14:00:00", "2026-04-18", "yesterday", "", "2026-13-01T00:00:00Z", 1_776_520_800, None, [], "9" * 99],
)
def test_value_that_is_not_a_time_compares_with_nothing(value):
    assert math.isnan(read_time(value))

from __future__ import annotations

import math

import pytest

from undersigned.message.timestamps import http_date, read_http_date, read_time


@pytest.mark.parametrize("text", ["2026-04-18T14:00:00Z", "2026-04-18T16:00:00+02:00", "2026-04-18T14:00:00.000Z"])
def test_time_with_a_zone_is_seconds_since_the_epoch(text):
    assert read_time(text) == 1_776_520_800


@pytest.mark.parametrize(
    "value",
    ["2026-04-18T14:00:00", "2026-04-18", "yesterday", "", "2026-13-01T00:00:00Z", 1_776_520_800, None, [], "9" * 99],
)
def test_value_that_is_not_a_time_compares_with_nothing(value):
    assert math.isnan(read_time(value))


def test_http_date_is_read_as_it_is_written():
    assert http_date(1_795_305_600.9) == "Sun, 22 Nov 2026 00:00:00 GMT"
    assert read_http_date("Sun, 22 Nov 2026 00:00:00 GMT") == 1_795_305_600
    assert read_http_date("Thu, 01 Jan 1970 00:00:00 GMT") == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sunday, 22-Nov-26 00:00:00 GMT",
        "Sun Nov 22 00:00:00 2026",
        "Sun, 22 Nov 2026 00:00:00 +0000",
        "Sun, 31 Feb 2026 00:00:00 GMT",
        "Mon, 22 Nov 2026 00:00:00 GMT",
        "Sun, 22 Nov 2026 24:00:00 GMT",
        "Sun, 22 Nov 0000 00:00:00 GMT",
        "Sun, 22 Nov 2026 00:00:00 GMT ",
        "Sun, ２2 Nov 2026 00:00:00 GMT",  # noqa: RUF001 - another digit
    ],
)
def test_http_date_in_another_form_or_of_no_day_is_none(text):
    assert read_http_date(text) is None

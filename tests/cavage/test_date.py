from __future__ import annotations

import pytest

from undersigned.cavage.date import http_date, read_http_date


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

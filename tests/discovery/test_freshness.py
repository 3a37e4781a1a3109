from __future__ import annotations

import math

import pytest

from undersigned import ConfigurationError
from undersigned.discovery import Freshness

DATE = "Fri, 27 Nov 2026 10:00:00 GMT"
FRESHNESS = Freshness(least=60, most=900, default=300)


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ({}, 300),
        ({"cache-control": "max-age=120"}, 120),
        ({"cache-control": "public, Max-Age=120 , immutable"}, 120),
        ({"cache-control": 'max-age="120"'}, 120),
        ({"cache-control": "max-age=120", "age": "50"}, 70),
        ({"cache-control": "max-age=120", "age": "later"}, 120),
        ({"cache-control": "max-age=5"}, 60),
        ({"cache-control": "max-age=99999"}, 900),
        ({"cache-control": "s-maxage=120"}, 300),
        ({"cache-control": "max-age=99999999999999999999"}, 300),
        ({"cache-control": "max-age=-5"}, 300),
        ({"cache-control": "max-age=120, no-store"}, 60),
        ({"cache-control": 'no-cache="x"'}, 60),
        ({"cache-control": "x-no-store"}, 300),
        ({"cache-control": "public,\tmax-age=120\t, immutable"}, 120),
        ({"cache-control": 'public,\tmax-age="120"\t'}, 120),
        ({"cache-control": 'max-age="0000000090"'}, 90),
        ({"cache-control": 'max-age="00000000090"'}, 300),
        ({"cache-control": "max-age=120", "age": "\t5 "}, 115),
        ({"cache-control": "max-age=120", "age": "00000000050"}, 120),
        ({"cache-control": "max-age=120,\tno-store\t, public"}, 60),
        ({"cache-control": "max-age=120", "age": "50, 0"}, 70),
        ({"expires": "0"}, 60),
        ({"expires": "-1", "date": DATE}, 60),
        ({"expires": "Thu, 26 Nov 2026 10:00:00 GMT", "date": DATE}, 60),
        ({"expires": "Fri, 27 Nov 2026 10:02:00 GMT", "date": DATE}, 120),
        ({"expires": "Fri, 27 Nov 2026 10:02:00 GMT", "date": DATE, "age": "30"}, 90),
        ({"expires": "Fri, 27 Nov 2026 10:02:00 GMT"}, 60),
        ({"expires": "Fri, 27 Nov 2026 10:02:00", "date": DATE}, 60),
        ({"expires": "Fri, 27 Nov 2026 10:02:00 GMT", "cache-control": "max-age=70", "date": DATE}, 70),
    ],
)
def test_lifetime_follows_cache_control_within_the_limits(fields, seconds):
    assert FRESHNESS.lifetime(fields) == seconds


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"least": 0}, "least"),
        ({"least": "60"}, "least"),
        ({"least": 400, "default": 300}, "default"),
        ({"default": 1000}, "default"),
        ({"most": math.inf}, "most"),
        ({"stale": -1}, "stale"),
        ({"stale": math.inf}, "stale"),
        ({"stale": True}, "stale"),
        ({"interval": 0}, "interval"),
        ({"interval": math.nan}, "interval"),
    ],
)
def test_freshness_names_the_option_that_cannot_be_used(options, named):
    with pytest.raises(ConfigurationError, match=f"^{named}"):
        Freshness(**options)


def test_each_value_may_be_the_least_one():
    least = Freshness(least=1, most=1, default=1, stale=0, interval=1)
    assert least.lifetime({}) == 1
    assert least.stale == 0

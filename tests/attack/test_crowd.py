"""A crowd of strangers beside a known bot, on real servers: it gets every answer, and waits for none of their fetches.

The ratio of the 99th percentiles is what `python -m tests.attack.crowd` prints: two busy cores make it no assertion.
"""

from __future__ import annotations

import pytest
from tests.attack.crowd import SERVERS, measure

SECONDS = 3


@pytest.mark.parametrize("name", SERVERS)
def test_known_bot_is_served_beside_strangers(name, tmp_path):
    alone, beside = measure(name, SECONDS, tmp_path)
    assert alone.statuses == beside.statuses == {200}
    # A bot that waits for threads which wait for silent hosts gets an answer after some of these.
    assert beside.seconds[-1] < 2
    assert len(beside.seconds) > 20

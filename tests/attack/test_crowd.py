"""A crowd of strangers beside a known bot, on real servers: it gets every answer, and waits for none of their fetches.

The ratio of the 99th percentiles is what `python -m tests.attack.crowd` prints: two busy cores make it no assertion.
"""

from __future__ import annotations

import pytest
from tests.attack.crowd import SERVERS, measure

NEVER = {"wait_timeout": 600.0, "total_timeout": 600.0}
"""The fetches hang until the bot has its answers: if it waited for one, it would get none."""


@pytest.mark.parametrize("name", SERVERS)
def test_known_bot_is_served_beside_strangers(name, tmp_path):
    alone, beside = measure(name, tmp_path, least=100, **NEVER)
    assert alone.statuses == beside.statuses == {200}

"""A soak of some seconds: honest requests are served among the others, and no descriptor stays open."""

from __future__ import annotations

import sys

import pytest
from tests.soak.__main__ import SERVERS, soak


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
@pytest.mark.parametrize("name", SERVERS)
def test_server_under_mixed_load_serves_the_honest_and_keeps_nothing(name, tmp_path):
    # A busy machine decides about memory and latency, and what a pool of threads starts with.
    assert not set(soak(name, 5, tmp_path).faults) - {"memory", "latency", "threads"}

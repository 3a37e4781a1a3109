"""What every search needs: its share of the time, and its own random numbers."""

from __future__ import annotations

import pytest
from tests.attack.search import Search


@pytest.fixture
def search(request) -> Search:
    """The search of this test: all selected searches share the minutes equally."""
    searches = sum("search" in getattr(item, "fixturenames", ()) for item in request.session.items)
    config = request.config
    seconds = 60 * config.getoption("--attack-minutes") / max(1, searches)
    return Search(f"{config.getoption('--attack-seed')} {request.node.nodeid}", seconds)

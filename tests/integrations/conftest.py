from __future__ import annotations

import pytest
from tests.seller import selling


@pytest.fixture(scope="package")
def sellers():
    """Two sellers, who take unsigned requests too."""
    with selling("optional") as seller, selling("optional") as other:
        yield seller, other

"""Each middleware in its turn."""

from __future__ import annotations

from functools import partial

import pytest
from tests.middleware.gate import OverASGI, OverWSGI


@pytest.fixture(params=[OverASGI, OverWSGI], ids=["asgi", "wsgi"])
def side(request, party):
    """Make a gate with the options."""
    return partial(request.param, party)

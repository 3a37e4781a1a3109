"""Fixtures for the tests of every room."""

from __future__ import annotations

import pytest
from tests import party as parties


@pytest.fixture(scope="session")
def party() -> parties.Party:
    return parties.party()

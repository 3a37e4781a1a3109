"""Fixtures for the tests of every room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests import party as parties
from tests.serving import stop_idle_servers

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def _servers_end_with_the_tests() -> Iterator[None]:
    yield
    stop_idle_servers()


@pytest.fixture(scope="session")
def party() -> parties.Party:
    return parties.party()

"""What all tests share: hypothesis profiles, the markers of directories that run on their own, fixtures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests import party as parties
from tests.serving import stop_idle_servers

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
ROOMS = {
    "servers": "servers",
    "proxies": "servers",
    "stores": "stores",
    "attack": "attack",
    "interop": "interop",
    "examples": "examples",
    "browser": "browser",
}
"""The marker of every test in a directory. `pytest` alone leaves these out; `.ci/run` runs each marker in a step."""

# A busy machine must not fail a property: slow examples are not errors, and the profile sets their number.
_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("quick", max_examples=20, deadline=None, suppress_health_check=_SLOW_IS_FINE)
settings.register_profile("thorough", max_examples=100, deadline=None, suppress_health_check=_SLOW_IS_FINE)
settings.load_profile("quick")


def _marker(path: Path) -> str | None:
    parts = path.relative_to(HERE).parts if path.is_relative_to(HERE) else ()
    return ROOMS.get(parts[0]) if parts else None


class _Only(dict):
    """The truth of markers to a test that has one."""

    def __missing__(self, _marker: str) -> bool:
        return False


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a room whose marker is not selected: what it imports may not be installed."""
    marker, selection = _marker(collection_path), config.option.markexpr
    if marker is None or not selection or eval(selection, {}, _Only({marker: True})):  # noqa: S307 - our own option
        return None
    return True


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("attack", "the searches of tests/attack, run by `pytest -m attack`")
    group.addoption(
        "--attack-minutes",
        type=float,
        default=3,
        metavar="N",
        help="minutes that the selected searches share; each one tries its first messages whatever the time",
    )
    group.addoption("--attack-seed", default="0", metavar="SEED", help="another seed tries other messages")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        # Processes that share the tests would not agree on which there are.
        raise pytest.UsageError(f"an address is part of the name of a test: {unstable[0]}; give its parameters ids")
    for item in items:
        marker = _marker(item.path)
        if marker is not None:
            item.add_marker(marker)


@pytest.fixture(scope="session", autouse=True)
def _servers_end_with_the_tests() -> Iterator[None]:
    yield
    stop_idle_servers()


@pytest.fixture(scope="session")
def party() -> parties.Party:
    return parties.party()


@pytest.fixture
def seller(sellers):
    """The first of the two `sellers` of a module, to which nothing has arrived yet."""
    sellers[0].arrivals.clear()
    return sellers[0]


@pytest.fixture
def other(sellers):
    """The second of the two `sellers` of a module, to which nothing has arrived yet."""
    sellers[1].arrivals.clear()
    return sellers[1]

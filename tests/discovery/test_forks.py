"""A forked process uses whatever its parent made, although threads of the parent held its locks and waited for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.forks import KINDS


@pytest.fixture(scope="module")
def answered(key_server_certificate, tmp_path_factory):
    # In a process of its own: one with threads had better not fork.
    words = ["-W", "ignore::DeprecationWarning", "-m", "tests.forks"]
    paths = [str(key_server_certificate), str(tmp_path_factory.mktemp("forks"))]
    done = subprocess.run([sys.executable, *words, *paths], capture_output=True, check=True)  # noqa: S603 - our own
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", KINDS)
def test_forked_process_goes_on_although_locks_were_held_and_a_fetch_was_under_way(answered, kind):
    assert answered[kind]

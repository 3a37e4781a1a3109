from __future__ import annotations

import subprocess
import sys

import pytest
from tests.cli.command import invoke, usage_error

from undersigned.cli.group import COMMANDS


def test_help_lists_the_commands_of_the_package_each_with_its_whole_summary():
    listed = invoke("--help").stdout.partition("\nCommands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == sorted(COMMANDS)
    assert [line for line in listed if not line.endswith(".") or line.endswith("..")] == []


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"demo", "inspect"}))
def test_help_of_every_command_has_an_example(command):
    shown = invoke(command, "--help").stdout
    example = shown.partition("  Example")[2]
    assert f"\n    undersigned {command} " in example.partition("\nOptions:")[0]


def test_unknown_command_is_a_usage_error():
    assert "No such command 'nothing'" in usage_error("nothing")


def test_command_imports_nothing_that_only_others_need():
    code = "import sys; sys.argv = ['undersigned', '--version']; import atexit; "
    code += "atexit.register(lambda: print(sorted({'ssl', 'undersigned.explanation', 'rich'} & sys.modules.keys())))\n"
    code += "from undersigned.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)  # noqa: S603
    assert done.stdout.splitlines()[1] == b"[]"

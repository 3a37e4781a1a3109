from __future__ import annotations

import os

import pytest
from tests.cli.command import invoke, run

from undersigned.cli.group import COMMANDS

PLUGIN = """
import click

@click.command()
@click.argument("words", nargs=-1)
def plugin(words):
    "Say what was said."
    click.echo(" ".join(words))
"""


def install(directory, name: str, entry_points: str, **modules: str) -> dict[str, str]:
    """Write a distribution into `directory`, and return an environment that finds it."""
    metadata = directory / f"{name}-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[undersigned.commands]\n{entry_points}\n")
    for module, text in modules.items():
        (directory / f"{module}.py").write_text(text)
    return {**os.environ, "PYTHONPATH": str(directory)}


def test_help_lists_the_commands_of_the_package_and_the_demo_plug_in():
    result = invoke("--help")
    assert result.exit_code == 0
    for name in ("canonicalize", "sign", "verify", "keygen", "doctor", "demo", "inspect"):
        assert f"\n  {name} " in result.stdout


def test_help_cuts_no_summary_of_a_command_off():
    summaries = invoke("--help").stdout.partition("\nCommands:\n")[2].splitlines()
    assert [summary for summary in summaries if not summary.endswith(".") or summary.endswith("..")] == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_of_every_command_has_an_example(command):
    shown = invoke(command.name, "--help").stdout
    example = shown.partition("  Example")[2]
    assert f"\n    undersigned {command.name} " in example.partition("\nOptions:")[0]


def test_unknown_command_is_a_usage_error():
    result = invoke("nothing")
    assert result.exit_code == 2
    assert "No such command 'nothing'" in result.stderr


def test_another_distribution_can_add_a_command(tmp_path):
    env = install(tmp_path, "elsewhere", "say = elsewhere:plugin", elsewhere=PLUGIN)
    done = run("say", "one", "two", env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"one two\n", b"")


def test_plug_in_cannot_replace_a_command_of_the_package(tmp_path):
    env = install(tmp_path, "elsewhere", "canonicalize = elsewhere:plugin", elsewhere=PLUGIN)
    done = run("canonicalize", "HTTPS://A.example", env=env)
    assert (done.returncode, done.stdout) == (0, b"https://a.example/\n")


@pytest.mark.parametrize("args", [["say"], ["say", "one", "--two"]])
def test_plug_in_names_the_extra_to_install_when_a_dependency_is_missing(args, tmp_path):
    env = install(tmp_path, "elsewhere", "say = elsewhere:plugin", elsewhere="import not_there_at_all\n")
    done = run(*args, env=env)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"Error: not_there_at_all cannot be imported: pip install 'elsewhere[say]'\n"


def test_broken_plug_in_does_not_affect_help_and_other_commands(tmp_path):
    env = install(tmp_path, "elsewhere", "say = elsewhere:plugin", elsewhere="raise ImportError('half an install')\n")
    listed = run("--help", env=env)
    assert listed.returncode == 0
    assert b"Not installed: pip install 'elsewhere[say]'." in listed.stdout
    assert run("canonicalize", "https://a.example", env=env).stdout == b"https://a.example/\n"
    assert run("say", env=env).stderr == b"Error: an import cannot be imported: pip install 'elsewhere[say]'\n"

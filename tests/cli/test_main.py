from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.cli.command import run

WITHOUT = 'raise ModuleNotFoundError("No module named {0!r}", name={0!r})\n'


def environment_without(module: str, directory) -> dict[str, str]:
    (directory / f"{module}.py").write_text(WITHOUT.format(module))
    return {**os.environ, "PYTHONPATH": str(directory)}


@pytest.mark.parametrize("args", [[], ["--help"], ["canonicalize", "https://a.example"], ["demo"]])
def test_missing_extra_is_one_line_with_exit_2(args, tmp_path):
    done = run(*args, env=environment_without("click", tmp_path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines() == ["undersigned: click is not installed: pip install 'undersigned[cli]'"]


def test_command_that_needs_another_extra_names_it(tmp_path):
    done = run("demo", env=environment_without("uvicorn", tmp_path))
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = done.stderr.decode().splitlines()
    assert line == "undersigned: uvicorn is not installed: pip install 'undersigned[demo]'"


def test_module_and_script_are_the_same_command():
    code = "import sys; from importlib.metadata import entry_points as e; sys.argv = ['x', '--version']; "
    code += "[script] = e(group='console_scripts', name='undersigned'); script.load()()"
    script = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)  # noqa: S603
    module = run("--version")
    assert (script.returncode, script.stdout) == (module.returncode, module.stdout)
    assert module.stdout.startswith(b"undersigned ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it")  # noqa: PTH110 - one name
@pytest.mark.parametrize("command", [["--version"], ["canonicalize", "https://a.example"], ["canonicalize", "-"]])
def test_output_that_cannot_be_written_is_one_line_with_exit_1(command):
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - as above
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "undersigned", *command], input=b'""\n', stdout=full, stderr=-1, check=False
        )
    said = done.stderr.decode()
    assert (done.returncode, said) == (1, "undersigned: the output cannot be written: No space left on device\n")


def test_closed_pipe_ends_the_command_without_a_traceback():
    with subprocess.Popen(
        [sys.executable, "-m", "undersigned", "canonicalize", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        running.stdin.write(b'"https://a.example"\n')
        running.stdin.flush()
        assert running.stdout.readline() == b'{"target_uri": "https://a.example/", "authority": "a.example"}\n'
        running.stdout.close()
        running.stdin.write(b'"https://a.example"\n')
        running.stdin.close()
        assert b"Traceback" not in running.stderr.read()
        assert running.wait(60) == 1

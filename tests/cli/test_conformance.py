from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.command import invoke, run
from tests.conformance.files import REJECTED, SIGNED, lay, lay_files, own

if TYPE_CHECKING:
    from pathlib import Path

NAME = "request-signing/profile-3.2"


@pytest.fixture
def right(tmp_path):
    return lay_files(lay(tmp_path), {SIGNED: own(SIGNED), REJECTED: own(REJECTED)})


def wrong(directory: Path, **members) -> Path:
    return lay_files(directory, {SIGNED: {**own(SIGNED), **members}})


def test_output_is_plain_ascii_without_a_terminal(right):
    done = run("conformance", str(right))
    assert (done.returncode, done.stderr) == (0, f"{NAME}: 2 run\n".encode())
    assert done.stdout == (
        b"set                          passed  failed  total\n"
        b"request-signing/profile-3.2       2       0      2\n"
        b"\n"
        b"2 passed, 0 failed\n"
    )


@pytest.mark.parametrize(
    ("members", "subject"),
    [
        ({"expected_outcome": {"success": False, "error_code": "request_signature_invalid"}}, "outcome"),
        ({"expected_signature_base": own(SIGNED)["expected_signature_base"][:-1]}, "signature base"),
        ({"request": 7}, "not a vector"),
    ],
)
def test_failure_is_shown_with_exit_1(members, subject, right):
    result = invoke("conformance", str(wrong(right, **members)))
    assert result.exit_code == 1
    assert f"\nFAILED {NAME}: positive/ed25519: {subject}\n" in result.stdout
    assert result.stdout.endswith("\n1 passed, 1 failed\n")


def test_wrong_base_is_marked_below_its_first_differing_byte(right):
    base = own(SIGNED)["expected_signature_base"]
    at = base.index("own-buyer")
    result = invoke("conformance", str(wrong(right, expected_signature_base=base.replace("own-buyer", "Own-buyer"))))
    assert f"\n  first differing byte: {at}\n" in result.stdout
    lines = result.stdout.splitlines()
    [number] = [number for number, line in enumerate(lines) if re.fullmatch(r" +\^ +\^", line)]
    marks = [match.start() for match in re.finditer(r"\^", lines[number])]
    assert [lines[number - 1][mark] for mark in marks] == ["O", "o"]


def test_json_writes_one_object_only(right):
    result = invoke("conformance", "--json", str(right))
    output = json.loads(result.stdout)
    assert (result.exit_code, result.stdout.count("\n")) == (0, 1)
    assert (output["passed"], output["failed"], output["failures"], output["not_run"]) == (2, 0, [], [])
    assert output["sets"] == [{"name": NAME, "passed": 2, "failed": 0, "total": 2}]


def test_json_reports_a_failure_with_exit_1(right):
    result = invoke("conformance", str(wrong(right, expected_signature_base="x")), "--json")
    output = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [(one["vector"], one["subject"], one["first_differing_byte"]) for one in output["failures"]] == [
        ("positive/ed25519", "signature base", 0)
    ]


@pytest.mark.parametrize("args", [[], ["--json"]])
def test_directory_without_vectors_is_a_usage_error(args, tmp_path):
    result = invoke("conformance", *args, str(lay(tmp_path)))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "contains no vectors: give a directory with JSON files in a form that is published" in result.stderr


@pytest.mark.parametrize("name", ["absent", "file"])
def test_path_is_a_usage_error_when_it_is_not_a_directory(name, tmp_path):
    (tmp_path / "file").write_text("")
    assert invoke("conformance", str(tmp_path / name)).exit_code == 2


def test_unreadable_directory_is_a_usage_error_without_a_traceback(right, monkeypatch):
    def reject(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.scandir", reject)
    result = invoke("conformance", str(right))
    assert result.exit_code == 2
    assert "a directory cannot be read: Permission denied" in result.stderr


def test_foreign_file_fails_alone_without_a_traceback(right):
    lay_files(right, {f"{NAME}/negative/{name}.json": data for name, data in FOREIGN.items()})
    result = invoke("conformance", str(right))
    assert result.exit_code == 1
    assert result.stdout.endswith(f"\n2 passed, {len(FOREIGN) - 2} failed\n")
    assert f"{NAME}: 2 JSON files of no form that is known" in result.stdout
    assert "Traceback" not in result.output


FOREIGN = {
    "empty": b"",
    "text": b"hello",
    "list": b"[]",
    "nested": b"[" * 100_000,
    "other": b'{"a": 1}',
    "repeated": b'{"request": 1, "request": 2}',
    "bytes": bytes(range(256)),
}


def test_profile_selects_what_it_verifies(right):
    lay_files(right, {"x.json": {"components": [{"id": "own", "message": {}}]}})
    result = invoke("conformance", "--profile", "adcp-3.2", str(right))
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "2 passed, 0 failed")
    none = invoke("conformance", "--profile", "tap", str(right))
    assert none.exit_code == 2
    assert "contains no vectors of tap: give" in none.stderr


def test_terminal_gets_progress_and_colour_and_a_plain_last_line(right):
    wrong(right, expected_signature_base="x")
    output = on_a_terminal("conformance", str(right))
    assert "\x1b[31m" in output
    assert "2/2" in output
    assert output.splitlines()[-1].strip() == "1 passed, 1 failed"


def test_terminal_gets_one_object_with_json(right):
    output = on_a_terminal("conformance", "--json", str(right))
    assert json.loads(output[output.index("{") :])["passed"] == 2


def on_a_terminal(*args: str) -> str:
    """Return the output of a command whose output and errors are a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "NO_COLOR": ""}
    environment.pop("NO_COLOR")
    process = subprocess.Popen(  # noqa: S603 - our own command, with arguments a test chose
        [sys.executable, "-m", "undersigned", *args],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    written = bytearray()
    try:
        while chunk := os.read(ours, 4096):
            written += chunk
    except OSError:
        # Linux raises this when the other end is closed.
        pass
    finally:
        os.close(ours)
        process.wait(timeout=60)
    return written.decode()

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import answers, invoke, lines, objects, run
from tests.cli.test_sign import GET

from undersigned.cli import input_file

posix = pytest.mark.skipif(os.name != "posix", reason="modes, names and shells are POSIX")


def error(*args: str, stdin: bytes = b"") -> str:
    result = invoke(*args, stdin=stdin)
    assert (result.exit_code, result.stdout) == (2, "")
    return " ".join(result.stderr.split())


def test_every_file_can_be_standard_input(keys, tmp_path):
    private, public = Path(keys.private).read_bytes(), Path(keys.public).read_bytes()
    [made] = answers("sign", "--key", keys.private, "-", stdin=lines(GET))
    fields = "".join(f"{name}: {value}\n" for name, value in made["headers"])
    raw = f"GET /orders HTTP/1.1\nHost: seller.example.com\n{fields}\n".encode()
    (tmp_path / "request").write_bytes(raw)
    (tmp_path / "base").write_text(made["signature_base"])
    recorded = ("--request", str(tmp_path / "request"))
    for args, stdin, code in (
        (("sign", "--key", "-", GET["url"]), private, 0),
        (("sign", "--key", keys.private, "-d", "@-", GET["url"]), b"{}", 0),
        (("explain", *recorded, "--jwks", "-"), public, 0),
        (("explain", "--request", "-", "--jwks", keys.public), raw, 0),
        (("explain", *recorded, "--jwks", keys.public, "--body", "-"), b"", 0),
        (("explain", *recorded, "--jwks", keys.public, "--base", "-"), made["signature_base"].encode(), 0),
        (("doctor", "--key", "-", "http://127.0.0.1:9"), private, 1),
        (("doctor", "--key", keys.private, "--ca-file", "-", "http://127.0.0.1:9"), b"", 2),
    ):
        result = invoke(*args, stdin=stdin)
        assert (result.exit_code, "standard input" in result.stderr) == (code, code == 2), args


@pytest.mark.parametrize(
    ("args", "first"),
    [
        (("sign", "--key", "-", "-"), "'--key'"),
        (("sign", "--key", "-", "-d", "@-", "https://a.test"), "'--key'"),
        (("verify", "--jwks", "-", "-"), "'--jwks'"),
        (("explain", "--request", "-", "--jwks", "-"), "'--request'"),
        (("doctor", "--key", "-", "--ca-file", "-", "https://a.test"), "'--key'"),
    ],
)
def test_standard_input_is_read_by_one_option_only(args, first):
    assert f"- is standard input, which {first} reads already; give a file" in error(*args)


@posix
def test_file_may_have_the_name_of_a_dash(keys, tmp_path):
    (tmp_path / "-").write_bytes(Path(keys.private).read_bytes())
    done = run("sign", "--key", "./-", "-", stdin=lines(GET), cwd=tmp_path)
    assert objects(done.stdout)[0].keys() == {"headers", "signature_base"}


@posix
@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o400, False), (0o640, True), (0o604, True)])
def test_private_key_that_others_can_read_is_warned_about(mode, warned, keys, tmp_path):
    path = tmp_path / "key"
    path.write_bytes(Path(keys.private).read_bytes())
    path.chmod(mode)
    result = invoke("sign", "--key", str(path), "-", stdin=lines(GET))
    warning = (
        f"Warning: other users can read the private key in {path} (mode {mode:04o}). Change that: chmod 600 {path}\n"
    )
    assert (result.exit_code, result.stderr) == (0, warning if warned else "")


@posix
def test_public_keys_that_others_can_read_are_not_warned_about(keys, tmp_path):
    path = tmp_path / "set"
    path.write_bytes(Path(keys.public).read_bytes())
    path.chmod(0o644)
    assert "Warning" not in invoke("verify", "--jwks", str(path), "-").stderr


@posix
def test_key_from_a_pipe_is_not_warned_about(keys):
    code = '"$0" -m undersigned sign --key <(cat "$1") https://seller.example.com/'
    command = ["/bin/bash", "-c", code, sys.executable, keys.private]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)  # noqa: S603 - our own command
    assert (done.returncode, b"Warning" in done.stderr) == (0, False)


def test_windows_modes_are_not_warned_about(keys, tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_bytes(Path(keys.private).read_bytes())
    path.chmod(0o644)
    monkeypatch.setattr(input_file.sys, "platform", "win32")
    assert invoke("sign", "--key", str(path), "-", stdin=lines(GET)).stderr == ""


def test_file_that_is_too_large_is_rejected(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(b" " * (input_file.MOST_SETTINGS + 1))
    path.chmod(0o600)
    assert "has more than 1,048,576 bytes" in error("sign", "--key", str(path), "-")


@posix
@pytest.mark.parametrize("args", [("verify", "--jwks", "-", "requests"), ("verify", "--jwks", "PUBLIC", "-")])
def test_standard_input_that_is_closed_is_reported_in_one_line(args, keys, tmp_path):
    (tmp_path / "requests").touch()
    words = " ".join(keys.public if arg == "PUBLIC" else arg for arg in args)
    command = ["/bin/sh", "-c", f'"$0" -m undersigned {words} <&-', sys.executable]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, cwd=tmp_path)  # noqa: S603
    assert done.returncode == 1
    assert done.stderr.startswith(b"Error: standard input is closed, but ")
    assert done.stderr.count(b"\n") == 1


def test_file_that_is_no_private_key_is_not_warned_about(keys, tmp_path):
    path = tmp_path / "set"
    path.write_bytes(Path(keys.public).read_bytes())
    path.chmod(0o644)
    assert "Warning" not in error("sign", "--key", str(path), "-")


@posix
def test_person_at_a_terminal_is_told_that_it_is_read(keys):
    controller, terminal = os.openpty()
    command = [sys.executable, "-m", "undersigned", "verify", "--jwks", keys.public, "-"]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603
        os.close(terminal)
        assert running.stderr.readline() == b"Reading 'FILE' from the terminal. End it with Ctrl-D.\n"
        os.write(controller, b"{}\n\x04")
        found, _ = running.communicate(timeout=60)
    os.close(controller)
    assert [answer["code"] for answer in objects(found)] == ["line_malformed"]


def test_certificates_are_rejected_when_the_file_has_none(keys):
    options = ("--key", keys.private, "https://a.test")
    assert "does not contain PEM certificates" in error("doctor", "--ca-file", keys.public, *options)
    assert "does not contain PEM certificates" in error("doctor", "--ca-file", "-", *options)

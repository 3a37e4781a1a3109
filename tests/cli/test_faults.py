"""Mistakes that a command line makes visible: a wrong key, an answer without an end, a profile that is misspelt."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.cli.command import invoke
from tests.cli.conftest import KEYID
from tests.cli.listener import listener, rejection

from undersigned.cli import http


def test_request_names_another_key_under_the_same_kid(tmp_path, keys):
    other = tmp_path / "other"
    assert invoke("keygen", "--kid", KEYID, "--out", str(other)).exit_code == 0
    jwks = str(other / "public.jwks.json")
    with listener(rejection("request_signature_invalid")) as port:
        result = invoke("request", "GET", f"http://127.0.0.1:{port}/orders", "--key", keys.private, "--jwks", jwks)
    assert f"Cause: the key {KEYID} of --jwks is not the public half of --key" in result.output
    assert result.output.count("Cause: ") == 1
    assert "No cause found" not in result.output


def test_request_by_another_profile_than_the_servers_does_not_contradict_the_server(keys):
    with listener(rejection("request_signature_tag_invalid")) as port:
        options = ("--profile", "gnap", "--key", keys.private, "--jwks", keys.public)
        result = invoke("request", "GET", f"http://127.0.0.1:{port}/orders", *options)
    assert "Why: the server says request_signature_tag_invalid: the server expects another tag\n" in result.stderr
    assert "The server therefore has other keys, another profile" in result.stderr
    assert "+  3  tag" not in result.stderr


@pytest.mark.parametrize("answer", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_answer_that_does_not_end_is_ended(answer, keys, monkeypatch):
    monkeypatch.setattr(http, "_TIMES", 1)
    with socket.create_server(("127.0.0.1", 0)) as bound:

        def serve() -> None:
            connection, _ = bound.accept()
            with contextlib.suppress(OSError), connection:
                connection.sendall(answer)
                while True:
                    connection.sendall(answer if b"100" in answer else b"x")
                    time.sleep(0.01)

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/"
        result = invoke("request", "GET", url, "--key", keys.private, "--timeout", "1")
    assert result.exit_code == 1
    assert result.stderr.endswith(f"Error: {url}: no response: the response did not end in 1 seconds\n")


def test_content_is_cleaned_for_a_terminal_alone(keys, monkeypatch):
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    body = "\x1b]0;owned\x07grün\n\t".encode()
    with listener(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)) as port:
        result = invoke("request", "GET", f"http://127.0.0.1:{port}/", "--key", keys.private)
    assert (result.exit_code, result.stdout) == (0, "\\x1b]0;owned\\x07grün\n\t")


def test_content_alone_is_on_standard_output(keys):
    body = bytes(range(256)) * 1024
    with listener(b"HTTP/1.1 200 OK\r\nX-A: \x1b[31m\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)) as port:
        result = invoke("request", "GET", f"http://127.0.0.1:{port}/", "--key", keys.private)
    assert (result.exit_code, result.stdout_bytes) == (0, body)
    assert result.stderr == f"HTTP/1.1 200 OK\nX-A: \\x1b[31m\nContent-Length: {len(body)}\n"


@pytest.mark.parametrize("command", ["sign", "verify", "request", "explain", "doctor"])
def test_every_command_has_the_same_profiles(command):
    result = invoke(command, "--profile", "draft-cavage-12")
    assert result.exit_code == 2
    assert "'draft-cavage-12' is no published profile: Give one of default, adcp-3.2" in " ".join(result.output.split())
    assert "did you mean adcp-3.2? Give" in " ".join(invoke(command, "--profile", "adcp-32").output.split())


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("own_profiles:OWN", "Missing "),
        ("own_profiles:OTHER", "the module own_profiles has no OTHER"),
        ("own_profiles:OWNN", "the module own_profiles has no OWNN: did you mean OWN?"),
        ("own_profiles:NUMBER", "own_profiles:NUMBER is not a Profile for requests"),
        ("own_profiles:RESPONSE", "own_profiles:RESPONSE is not a Profile for requests"),
        ("own_profilez:OWN", "no module own_profilez: did you mean own_profiles?"),
        ("broken_profiles:OWN", "broken_profiles cannot be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_profile_of_ones_own_is_named_by_its_import_path(name, fault, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_profiles", raising=False)
    Path("own_profiles.py").write_text(
        "from undersigned import profiles\nOWN = profiles.DEFAULT.derive(name='own')\nNUMBER = 1\n"
        "RESPONSE = profiles.UCP_RESPONSE\n"
    )
    Path("broken_profiles.py").write_text("1 / 0\n")
    for command in ("sign", "verify", "request", "explain", "doctor"):
        result = invoke(command, "--profile", name)
        assert (result.exit_code, fault in " ".join(result.output.split())) == (2, True)


def test_request_is_signed_verified_and_explained_with_a_profile_of_ones_own(keys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("internal_profile.py").write_text(
        "from undersigned import profiles\nfrom undersigned.signature.rules.selection import Selection\n"
        "PROFILE = profiles.DEFAULT.derive(name='internal', selection=Selection(tags=('internal',)))\n"
    )
    by = ("--profile", "internal_profile:PROFILE")
    signed = invoke("sign", "--key", keys.private, *by, "https://seller.example.com/a")
    Path("request.txt").write_text(f"GET /a HTTP/1.1\nHost: seller.example.com\n{signed.stdout}\n")
    explained = invoke("explain", "request.txt", "--jwks", keys.public, *by)
    assert (explained.exit_code, explained.stdout.splitlines()[1]) == (0, "Profile: internal")
    monkeypatch.delenv("UNDERSIGNED_PROFILE")
    guessed = invoke("explain", "request.txt", "--jwks", keys.public)
    assert (guessed.exit_code, guessed.stdout.splitlines()[1]) == (1, "Profile: (none)")
    assert guessed.stdout.startswith("Not verified: no published profile has the tag internal")


def test_reader_of_the_content_may_have_enough_of_it(keys):
    body = b"x\n" * 500_000
    with listener(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)) as port:
        command = [
            sys.executable,
            "-m",
            "undersigned",
            "request",
            "GET",
            f"http://127.0.0.1:{port}/",
            "--key",
            keys.private,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603 - ours
            assert running.stdout.readline() == b"x\n"
            running.stdout.close()
            said = running.stderr.read()
    assert (running.returncode, said) == (0, b"HTTP/1.1 200 OK\nContent-Length: 1000000\n")

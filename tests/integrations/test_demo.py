"""The demonstration: its table is true, and a false row is marked."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from waitress.trigger import trigger

from undersigned import Request
from undersigned.cli.group import undersigned
from undersigned_demo import report
from undersigned_demo.attempts import ATTEMPTS, BODY, Answer, rejection
from undersigned_demo.buyers import HTTPXBuyer, RequestsBuyer, read_answer
from undersigned_demo.servers import waitress_server
from undersigned_demo.trial import Row, running_trial, seconds_to_verify

BUYERS = pytest.mark.parametrize("make_buyer", [RequestsBuyer, HTTPXBuyer])
CODES = {
    "another path": "request_signature_invalid",
    "another query": "request_signature_invalid",
    "another body": "request_signature_digest_mismatch",
    "another method": "request_signature_invalid",
    "another Host": "request_target_uri_malformed",
    "a replay": "request_signature_replayed",
    "an expired one": "request_signature_window_invalid",
    "an unknown key": "request_signature_key_unknown",
    "no signature": "request_signature_required",
}


def demo(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, *options, "-m", "undersigned", "demo"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **environment},
    )


def demo_here(charset: str = "utf-8", **environment: str) -> Result:
    """Run the command in this process, which has imported the servers and clients already."""
    return CliRunner(charset).invoke(undersigned, ["demo"], env=environment)


@pytest.fixture(scope="module")
def trial():
    with running_trial() as running:
        yield running


def test_command_shows_every_attempt_by_both_clients_and_exits_0():
    done = demo("-W", "error", "-X", "dev", COLUMNS="100")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("  ") for line in done.stdout.splitlines() if line.rstrip().endswith(" ok")]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    expected = [
        ["as signed", "200", "200", "verified /orders?b=2&a=1", "ok"],
        ["as signed, /a%2Fb", "200", "200", "verified /a%2Fb", "ok"],
        *([name, "401", "401", code, "ok"] for name, code in CODES.items()),
    ]
    assert cells == expected * 2
    assert "sent by requests" in done.stdout
    assert "sent by httpx" in done.stdout
    assert "22 of 22 checks passed." in done.stdout
    assert "Verifying takes " in done.stdout


@pytest.mark.parametrize("columns", ["80", "11", "1"])
def test_output_fits_any_width_and_has_no_colours_without_a_terminal(columns):
    done = demo_here("ascii", COLUMNS=columns, TERM="dumb")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout
    assert columns != "80" or max(map(len, done.stdout.splitlines())) <= 80


def test_proxy_of_the_environment_is_not_used_for_loopback_addresses(monkeypatch):
    monkeypatch.setattr(report, "ATTEMPTS", ATTEMPTS[:1])
    done = demo_here(HTTP_PROXY="http://127.0.0.1:9", http_proxy="http://127.0.0.1:9", ALL_PROXY="http://127.0.0.1:9")
    assert (done.exit_code, done.stderr) == (0, "")


def test_command_names_the_extra_cli_when_it_is_missing(tmp_path):
    (tmp_path / "rich.py").write_text("raise ModuleNotFoundError(name='rich')\n")
    done = demo(PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "undersigned: rich is not installed: pip install 'undersigned[cli]'\n"


@pytest.mark.parametrize("module", ["fastapi", "waitress", "httpx"])
def test_command_names_the_extra_demo_when_it_is_missing(module, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "undersigned_demo"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    done = demo_here()
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"Error: {module} cannot be imported: pip install 'undersigned[demo]'\n"


def test_unexpected_answer_is_marked_with_exit_1(monkeypatch):
    wrong = replace(ATTEMPTS[0], answer=rejection("signature_required"))
    monkeypatch.setattr(report, "ATTEMPTS", (wrong, ATTEMPTS[1]))
    result = demo_here(COLUMNS="100")
    assert result.exit_code == 1
    assert result.stdout.count("expected: 401 request_signature_required") == 2
    assert result.stdout.count(" NO") == 2
    assert "2 of 4 checks passed." in result.stdout


@BUYERS
def test_every_answer_is_as_expected(make_buyer, trial):
    with closing(make_buyer()) as buyer:
        for row in trial.rows(ATTEMPTS, buyer):
            assert row.answers == {"FastAPI": row.attempt.answer, "Flask": row.attempt.answer}
            assert row.passed


def test_attempts_are_the_rows_of_the_table():
    assert {attempt.name: attempt.answer.why for attempt in ATTEMPTS[2:]} == CODES


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_attempt_changes_only_the_part_in_its_name(attempt):
    before = attempt.request("http://127.0.0.1:1")
    after = attempt.change(before)
    parts = {part for part in ("method", "url", "fields", "body") if getattr(before, part) != getattr(after, part)}
    named = {
        "another path": "url",
        "another query": "url",
        "another body": "body",
        "another method": "method",
        "another Host": "fields",
    }
    assert parts == ({named[attempt.name]} if attempt.name in named else set())
    assert len(before.body) == len(after.body)


@BUYERS
def test_buyer_sends_the_signed_request_unchanged(make_buyer, trial):
    origin = trial.origins["Flask"]
    with closing(make_buyer()) as buyer:
        request = Request("POST", f"{origin}/x%2Fy?q", [("Content-Type", "application/json")], BODY)
        signed = buyer.sign(request, trial.signers["buyer"], origin)
        assert (signed.method, signed.url, signed.body) == ("POST", request.url, BODY)
        assert {"signature", "signature-input", "content-digest"} <= {name for name, _ in signed.fields}
        assert buyer.send(signed) == Answer(200, "verified /x%2Fy?q")


@BUYERS
def test_attempt_shows_the_first_answer_when_the_first_request_fails(make_buyer, trial):
    replay = next(attempt for attempt in ATTEMPTS if attempt.first is not None)
    unsigned = replace(replay, hand=None)
    with closing(make_buyer()) as buyer:
        [row] = trial.rows([unsigned], buyer)
    assert not row.passed
    assert row.why == "request_signature_required"


@BUYERS
def test_row_fails_when_a_server_does_not_answer(make_buyer):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with closing(make_buyer()) as buyer:
        answer = buyer.send(Request("GET", f"http://127.0.0.1:{port}/"))
    assert answer.status == 0
    assert answer.why.startswith("no answer: Connect")


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"<html>", b'{"verifie', b"\xff"])
def test_foreign_answer_is_recognised(content):
    assert read_answer(200, {}, content) == Answer(200, "not an answer of the demo applications")


def test_code_comes_from_the_challenge_only():
    assert read_answer(401, {"WWW-Authenticate": 'Signature error="a_code"'}, b"") == Answer(401, "a_code")
    assert read_answer(401, {"WWW-Authenticate": "Basic"}, b'{"error": "a_code"}').why.startswith("not an answer")


def test_reasons_are_shown_by_seller_when_they_differ():
    row = Row(ATTEMPTS[0], {"FastAPI": Answer(200, "one"), "Flask": Answer(200, "two")})
    assert (row.passed, row.why) == (False, "FastAPI: one\nFlask: two")


def test_servers_stop_with_the_trial_even_when_it_fails():
    before = set(threading.enumerate())
    ports = []

    def failing():
        with running_trial() as running:
            ports.extend(int(origin.rpartition(":")[2]) for origin in running.origins.values())
            raise LookupError

    with pytest.raises(LookupError):
        failing()
    assert set(threading.enumerate()) == before
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=5)


def test_running_server_loop_does_not_close_its_trigger_too_early(monkeypatch):
    # Only code inside waitress can wake its loop at the wrong moment.
    pull = trigger._physical_pull  # noqa: SLF001

    def pulled_twice(self) -> None:
        # The first pull wakes the loop, like an answer just sent. The second comes after the loop has run.
        pull(self)
        threading.Event().wait(0.2)
        pull(self)

    with waitress_server(lambda _: Flask(__name__)):
        monkeypatch.setattr(trigger, "_physical_pull", pulled_twice)


def test_time_of_a_verification_is_measured():
    assert seconds_to_verify() > 0

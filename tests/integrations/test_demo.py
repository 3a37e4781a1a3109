"""The demonstration: its table is true, and a false row is marked."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner, Result

from undersigned.cli.group import undersigned
from undersigned_demo import trial


def demo_here(**environment: str) -> Result:
    """Run the command in this process, which has imported the servers and clients already."""
    return CliRunner().invoke(undersigned, ["demo"], env=environment)


def test_command_shows_every_attempt_by_both_clients_and_exits_0():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "undersigned", "demo"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("  ") for line in done.stdout.splitlines() if line.endswith(" ok")]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    statuses = [200, 200, *[401] * 9]
    expected = [
        [one.name, *[str(status)] * 2, one.why, "ok"] for one, status in zip(trial.ATTEMPTS, statuses, strict=True)
    ]
    assert cells == expected * 2
    assert "sent by requests" in done.stdout
    assert "sent by httpx" in done.stdout
    assert "22 of 22 checks passed." in done.stdout
    assert done.stdout.isascii()
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_proxy_of_the_environment_is_not_used_for_loopback_addresses(monkeypatch):
    monkeypatch.setattr(trial, "ATTEMPTS", trial.ATTEMPTS[:1])
    done = demo_here(HTTP_PROXY="http://127.0.0.1:9", http_proxy="http://127.0.0.1:9", ALL_PROXY="http://127.0.0.1:9")
    assert (done.exit_code, done.stderr) == (0, "")


def test_unexpected_answer_is_marked_with_exit_1(monkeypatch):
    wrong = trial.ATTEMPTS[0]._replace(why="signature_required")
    monkeypatch.setattr(trial, "ATTEMPTS", (wrong, trial.ATTEMPTS[1]))
    before = set(threading.enumerate())
    result = demo_here()
    assert result.exit_code == 1
    assert result.stdout.count("NO, expected signature_required") == 2
    assert "2 of 4 checks passed." in result.stdout
    assert set(threading.enumerate()) <= before


SENT = b'POST /orders?b=2&a=1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Length: 16\r\n\r\n{"budget": 1000}'
CHANGED = {
    "another path": b"POST /refunds?",
    "another query": b"?b=2&a=2 HTTP",
    "another body": b'{"budget": 9000}',
    "another method": b"PUT /orders",
    "another Host": b"\r\nHost: other.example:1\r\n",
}


@pytest.mark.parametrize("attempt", trial.ATTEMPTS, ids=lambda attempt: attempt.name)
def test_attempt_changes_only_the_part_in_its_name(attempt):
    old, new = attempt.change
    arrives = SENT.replace(old, new)
    assert (CHANGED.get(attempt.name, SENT) in arrives, arrives.replace(new, old)) == (True, SENT)

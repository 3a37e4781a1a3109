from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.command import answers, not_blank, usage_error

GOOD = b'"https://a.example"\n'
MALFORMED = {
    "not JSON": (b"https://a.example\n", "the line is not JSON from character 1 on"),
    "cut off": (b'"https://a.exa\n', "the line is not JSON from character 15 on"),
    "two values": (b'"https://a.example" 1\n', "the line is not JSON from character 21 on"),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD, "the line is not JSON from character 1 on"),
    "a NUL": (b'"https://a.example"\0\n', "the line is not JSON from character 20 on"),
    "not UTF-8": (b'"https://a.example/\xff"\n', "the line is not UTF-8"),
    "a surrogate in UTF-8": (b'"https://a.example/\xed\xa0\x80"\n', "the line is not UTF-8"),
    "UTF-16": ('"https://a.example"'.encode("utf-16-be") + b"\0\n", "the line is not JSON from character 1 on"),
    "a repeated key": (b'{"url": 1, "url": 2}\n', "a JSON object has duplicate keys"),
    "NaN": (b"NaN\n", "NaN and Infinity are not JSON"),
    "a huge number": (b"9" * 10_000 + b"\n", "the JSON has a number too long to be read"),
    "deep nesting": (b"[" * 200_000 + b"\n", "the JSON is nested too deeply to be checked"),
}


@pytest.mark.parametrize(("line", "message"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_line_gets_an_error_and_the_next_line_an_answer(line, message):
    rejected, answered = answers("canonicalize", "-", stdin=line + GOOD)
    assert rejected == {"error": "line_malformed", "rule": "line", "message": message}
    assert answered["authority"] == "a.example"


def test_blank_lines_are_skipped():
    assert len(answers("canonicalize", "-", stdin=b"\n  \r\n\t\n" + GOOD + b"\r\n \n" + GOOD)) == 2


def test_line_may_end_with_cr_lf_or_end_of_input():
    assert len(answers("canonicalize", "-", stdin=GOOD[:-1] + b"\r\n" + GOOD[:-1])) == 2


def test_every_answer_is_flushed_before_the_next_line_is_read():
    with subprocess.Popen(
        [sys.executable, "-m", "undersigned", "canonicalize", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        for _ in range(2):
            running.stdin.write(GOOD)
            running.stdin.flush()
            assert running.stdout.readline() == b'{"target_uri": "https://a.example/", "authority": "a.example"}\n'
        running.stdin.close()
        assert running.wait(60) == 0


@pytest.mark.skipif(os.name != "posix", reason="closes a descriptor by the shell")
@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        ("<&-", b"Error: standard input is closed, but - reads from it\n"),
        ("0>/dev/null", b"Error: standard input cannot be read: Bad file descriptor\n"),
    ],
)
def test_unreadable_standard_input_is_reported_in_one_line(redirection, message):
    done = subprocess.run(  # noqa: S603 - our own command
        ["/bin/sh", "-c", f'"$0" -m undersigned canonicalize - {redirection}', sys.executable],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", message)


@pytest.mark.parametrize("command", ["sign", "verify"])
@pytest.mark.parametrize("args", [[], ["-", "-"]])
def test_commands_that_read_lines_need_exactly_one_dash(command, args, keys):
    given_keys = {"sign": ["--key", keys.private], "verify": ["--jwks", keys.public]}[command]
    assert "Usage: undersigned" in usage_error(command, *given_keys, *args)


@given(stdin=st.binary(max_size=200))
def test_any_bytes_give_one_object_per_line_that_is_not_blank(stdin, keys):
    for command in (("canonicalize",), ("sign", "--key", keys.private), ("verify", "--jwks", keys.public)):
        found = answers(*command, "-", stdin=stdin)
        assert len(found) == not_blank(stdin)
        assert command[0] != "verify" or not any(answer["ok"] for answer in found)

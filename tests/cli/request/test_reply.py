"""Replies of servers that break off, never end, or send what a terminal must not get."""

from __future__ import annotations

import ssl
import sys
from io import BytesIO, TextIOWrapper

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.listener import listener

from undersigned import canonicalize
from undersigned.cli.connection import connect
from undersigned.cli.request.reply import MOST_CONTENT, Reply
from undersigned.cli.terminal import foreign, write_foreign


def reply(response: bytes) -> Reply:
    with (
        listener(response, []) as port,
        connect(canonicalize(f"http://127.0.0.1:{port}"), timeout=10, tls=ssl.create_default_context()) as one,
    ):
        one.request("GET", "/")
        with one.getresponse() as answer:
            return Reply.read(answer, timeout=10)


def test_content_is_read_to_its_limit():
    long = reply(b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * (MOST_CONTENT + 1))
    assert (len(long.content), long.cut) == (MOST_CONTENT, "only the first 65,536 bytes are read")
    whole = reply(b"HTTP/1.0 200 OK\r\n\r\n" + b"a" * MOST_CONTENT)
    assert (len(whole.content), whole.cut, whole.version) == (MOST_CONTENT, "", "HTTP/1.0")


@pytest.mark.parametrize(
    "rest",
    [
        b"Content-Length: 10\r\n\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        b"Content-Length: 9\r\n\r\nabc",
    ],
)
def test_content_that_ends_early_is_shown_as_far_as_it_came(rest):
    found = reply(b"HTTP/1.1 200 OK\r\n" + rest)
    assert (found.content, found.cut) == (b"abc", "the answer ends early")


def test_chunks_that_are_no_chunks_end_the_answer():
    found = reply(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc")
    assert (found.content, found.cut) == (b"", "the answer ends early")


def test_content_that_does_not_come_is_not_waited_for():
    with (
        listener(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", [], holds=True) as port,
        connect(canonicalize(f"http://127.0.0.1:{port}"), timeout=10, tls=ssl.create_default_context()) as one,
    ):
        one.request("GET", "/")
        with one.getresponse() as answer:
            one.sock.settimeout(0.05)
            found = Reply.read(answer, timeout=60)
    assert (found.content, found.cut) == (b"abc", "the rest did not come within 60 seconds")


def test_content_is_read_for_a_limited_time():
    with (
        listener(b"HTTP/1.1 200 OK\r\n\r\nabc", [], holds=True) as port,
        connect(canonicalize(f"http://127.0.0.1:{port}"), timeout=10, tls=ssl.create_default_context()) as one,
    ):
        one.request("GET", "/")
        with one.getresponse() as answer:
            found = Reply.read(answer, timeout=0)
    assert (found.content, found.cut) == (b"abc", "the rest did not come within 0 seconds")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"abc\r\nd", "abc\r\nd"),
        ("\u00e9".encode(), "\u00e9"),
        (b"\xff", None),
        (b"a\0b", None),
        (b"\xc3", None),
    ],
)
def test_content_is_text_when_it_is_utf_8_without_nul(content, expected):
    assert Reply("HTTP/1.1", 200, "", (), content, "").text == expected


def test_character_that_is_cut_at_the_end_is_left_out():
    assert Reply("HTTP/1.1", 200, "", (), b"a\xc3", "cut").text == "a"


def test_content_that_is_not_text_is_counted_and_in_json_in_base64(capsys):
    found = Reply("HTTP/1.1", 200, "OK", (("A", "b\n\x1b"),), b"\xff" * 1500, "the answer ends early")
    found.write()
    shown = "HTTP/1.1 200 OK\nA: b\\n\\x1b\n\n(1,500 bytes that are not text)\n(the answer ends early)\n"
    assert capsys.readouterr().out == shown
    members = found.json()
    assert (members["body_b64"][:4], "body" in members, members["cut"]) == ("////", False, "the answer ends early")


@given(text=st.text(alphabet=st.characters(), max_size=30))
def test_text_for_a_terminal_has_no_control_and_no_direction(text):
    shown = foreign(text)
    assert all(character.isprintable() or character in "\n\t" for character in shown)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\td", "a\nb\\rc\td"),
        ("\x1b[2J\x9b\x07", "\\x1b[2J\\x9b\\x07"),
        ("\u202eabc\u200b", "\\u202eabc\\u200b"),
        ("\ud800", "\\ud800"),
        ("\u00e9\u4f60", "\u00e9\u4f60"),
    ],
)
def test_what_a_terminal_must_not_get_is_escaped(text, expected):
    assert foreign(text) == expected


@pytest.mark.parametrize(
    ("encoding", "expected"), [("ascii", b"\\xe9\n"), ("latin-1", b"\xe9\n"), ("utf-8", b"\xc3\xa9\n")]
)
def test_character_that_the_terminal_cannot_show_is_escaped(encoding, expected, monkeypatch):
    written = BytesIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(written, encoding=encoding, newline="\n"))
    write_foreign("\u00e9")
    assert written.getvalue() == expected

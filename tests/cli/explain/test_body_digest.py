from __future__ import annotations

import json

import pytest

from undersigned.cli.explain.body_digest import digest_cause, in_base64
from undersigned.message.content_digest import content_digest

VALUE = {"b": [1, {"c": None}], "a": "\u00e9"}
BODY = json.dumps(VALUE).encode()


def cause(signed, body=BODY, algorithms=("sha-256",)):
    return digest_cause(body, content_digest(signed, "base64", algorithms=algorithms))


def test_digest_of_the_body_needs_no_cause():
    assert cause(BODY) == ""
    assert digest_cause(BODY, content_digest(BODY, "base64url")) == ""


@pytest.mark.parametrize(
    ("signed", "words"),
    [
        (b"", "an empty body"),
        (BODY + b"\n", "the body with LF behind it"),
        (BODY + b"\r\n", "the body with CRLF behind it"),
        (json.dumps(VALUE, separators=(",", ":")).encode(), "the same JSON written compactly"),
        (
            json.dumps(VALUE, sort_keys=True).encode(),
            "the same JSON written with spaces, as json.dumps does, its keys sorted",
        ),
        (json.dumps(VALUE, ensure_ascii=False).encode(), "the same JSON written with spaces, as json.dumps does"),
        (json.dumps(VALUE, indent=2).encode(), "the same JSON written indented by 2"),
        (json.dumps(VALUE, indent=4, sort_keys=True).encode(), "the same JSON written indented by 4, its keys sorted"),
    ],
)
def test_what_the_body_was_when_it_was_digested_is_found(signed, words):
    assert cause(signed) == f"the digest is of {words}: sign the bytes that are sent, and send them as they are"
    assert cause(signed, algorithms=("sha-512", "sha-256")) == cause(signed)


def test_escapes_are_named_where_the_body_has_none():
    body = json.dumps(VALUE, ensure_ascii=False).encode()
    assert "written compactly, non-ASCII escaped" in cause(json.dumps(VALUE, separators=(",", ":")).encode(), body)
    compact = json.dumps(VALUE, separators=(",", ":"), ensure_ascii=False).encode()
    assert "written compactly, non-ASCII as it is" in cause(compact, body)


@pytest.mark.parametrize(
    ("signed", "body", "words"),
    [
        (b"a", b"a\r\n", "without the line end"),
        (b"a\nb", b"a\r\nb", "with LF for CRLF"),
        (b"a\r\nb", b"a\nb", "with CRLF for LF"),
    ],
)
def test_content_that_is_no_json_may_have_had_other_line_ends(signed, body, words):
    assert words in cause(signed, body)


@pytest.mark.parametrize("body", [BODY, b"", b"\xff", b'{"a": 1, "a": 2}', b'"\\ud800"', b"[" * 100_000])
def test_digest_of_something_else_has_no_known_cause(body):
    assert cause(b"something else", body) == ""


@pytest.mark.parametrize(
    ("declared", "words"),
    [("", "no dictionary"), ("sha-256=a", "no dictionary"), ("md5=:AA==:", "neither sha-256 nor sha-512")],
)
def test_field_that_declares_no_digest_says_so(declared, words):
    assert words in digest_cause(BODY, declared)


def test_byte_sequences_are_the_same_in_either_base64():
    assert in_base64("a=:-_A:, b=:+/A=:") == "a=:+/A:, b=:+/A:"

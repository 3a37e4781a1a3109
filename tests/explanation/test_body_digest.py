from __future__ import annotations

import json

import pytest

from undersigned.explanation.body_digest import digest_cause, in_base64
from undersigned.message.content_digest import content_digest

VALUE = {"b": [1, {"c": None}], "a": "\u00e9"}
BODY = json.dumps(VALUE).encode()


def cause(signed, body=BODY, algorithms=("sha-256",)):
    return digest_cause(body, content_digest(signed, "base64", algorithms=algorithms))


def test_cause_is_empty_when_the_digest_matches():
    assert cause(BODY) == ""
    assert digest_cause(BODY, content_digest(BODY, "base64url")) == ""


@pytest.mark.parametrize(
    ("signed", "words"),
    [
        (b"", "an empty body"),
        (BODY + b"\n", "the body with LF at its end"),
        (BODY + b"\r\n", "the body with CRLF at its end"),
        (json.dumps(VALUE, separators=(",", ":")).encode(), "the same JSON written compactly"),
        (
            json.dumps(VALUE, sort_keys=True).encode(),
            "the same JSON written with spaces, as json.dumps does, with sorted keys",
        ),
        (json.dumps(VALUE, ensure_ascii=False).encode(), "the same JSON written with spaces, as json.dumps does"),
        (json.dumps(VALUE, indent=2).encode(), "the same JSON written indented by 2"),
        (json.dumps(VALUE, indent=4, sort_keys=True).encode(), "the same JSON written indented by 4, with sorted keys"),
    ],
)
def test_cause_describes_the_body_that_was_digested(signed, words):
    assert cause(signed) == f"the digest is of {words}; sign exactly the bytes that are sent"
    assert cause(signed, algorithms=("sha-512", "sha-256")) == cause(signed)


def test_cause_names_escapes_when_the_body_has_non_ascii():
    body = json.dumps(VALUE, ensure_ascii=False).encode()
    assert "written compactly, with non-ASCII escaped" in cause(json.dumps(VALUE, separators=(",", ":")).encode(), body)
    compact = json.dumps(VALUE, separators=(",", ":"), ensure_ascii=False).encode()
    assert "written compactly, with non-ASCII as it is" in cause(compact, body)


@pytest.mark.parametrize(
    ("signed", "body", "words"),
    [
        (b"a", b"a\r\n", "without its final line end"),
        (b"a\nb", b"a\r\nb", "with LF instead of CRLF"),
        (b"a\r\nb", b"a\nb", "with CRLF instead of LF"),
    ],
)
def test_cause_names_line_ends_when_the_body_is_not_json(signed, body, words):
    assert words in cause(signed, body)


@pytest.mark.parametrize("body", [BODY, b"", b"\xff", b'{"a": 1, "a": 2}', b'"\\ud800"', b"[" * 100_000])
def test_cause_is_empty_for_the_digest_of_other_content(body):
    assert cause(b"something else", body) == ""


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("", "not a dictionary"),
        ("sha-256=a", "not a dictionary"),
        ("md5=:AA==:", "contains neither sha-256 nor sha-512"),
    ],
)
def test_cause_names_the_fault_when_the_field_has_no_digest(declared, words):
    assert words in digest_cause(BODY, declared)


def test_byte_sequences_are_equal_in_both_base64_alphabets():
    assert in_base64("a=:-_A:, b=:+/A=:") == "a=:+/A:, b=:+/A:"

"""An explanation as text and as JSON."""

from __future__ import annotations

import json

import pytest
from tests import keys

from undersigned import Request
from undersigned.cli.explain.request import request_answer, request_text
from undersigned.explanation import Budget, explain_request


def show(request: Request, **options) -> list[str]:
    explained = explain_request(request, None, keys.KEYS, **{"clock": lambda: keys.NOW, **options})
    json.dumps(request_answer(explained)).encode("ascii")
    return [line.plain for line in request_text(explained)]


def test_valid_signature_is_verified_as_of_its_signing():
    lines = show(keys.signed_request())
    assert lines[1] == "Checked as of: 2026-04-18 14:00:00 UTC, when it was signed"
    assert lines[2] == "+  0  presence of a signature"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"created": 999_999_999_999_999, "expires": None}, "Checked as of: 999999999999999 seconds since the epoch,"),
        ({"expires": None}, "Checked as of: 2026-04-18 14:00:00 UTC, when it was signed"),
        ({"created": '"x"', "expires": None}, "Checked as of: "),
    ],
)
def test_any_time_of_signing_is_shown(changes, line):
    claim = keys.unsigned_claim(keys.covering(*keys.BARE, **changes))
    lines = show(claim, clock=lambda: keys.NOW + 10**6)
    assert lines[1].startswith(line)


def test_expiry_is_told_without_a_time_when_the_signature_has_none():
    claim = keys.unsigned_claim(keys.covering(*keys.BARE, created=keys.NOW + 10_000, expires=None))
    assert "Now: created lies in the future" in show(claim)


def test_search_that_ends_early_says_so():
    moved = keys.replace_parts(keys.signed_request(), url="https://seller.example.com/elsewhere")
    lines = show(moved, budget=Budget(20))
    assert lines[-1] == "No cause was found in 20 variants; there are more."


def test_unsigned_request_without_content_has_neither_time_nor_digest():
    lines = show(Request("GET", keys.URL))
    assert lines[1] == "x  0  presence of a signature"
    assert not any("Content-Digest" in line or "Judged" in line for line in lines)


@pytest.mark.parametrize("hostile", ["\x1b[31m", "\x9b31m", "\x07", "[bold]", "\x00"])
def test_text_of_a_message_is_cleaned_in_every_line(hostile):
    fields = [("X-List", f"a, b{hostile}"), ("X-Forwarded-Prefix", f"/p{hostile}"), ("X-Forwarded-Host", hostile)]
    before = Request("GET", keys.URL, [*fields[1:], ("X-List", "a")])
    sent = keys.hostile_request(before, keys.covering(*keys.BARE, "x-list"))
    received = keys.replace_parts(
        sent, fields=[*fields, *((name, value) for name, value in sent.fields if name != "x-list")]
    )
    assert all(line.isascii() and (line.isprintable() or not line) for line in show(received))
    target = keys.replace_parts(keys.signed_request("GET", body=b""), url=f"{keys.URL}/{hostile}?{hostile}#{hostile}")
    assert all(line.isascii() and (line.isprintable() or not line) for line in show(target))

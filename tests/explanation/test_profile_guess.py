"""The guess at a profile: every published request is explained by its own profile, without being told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.profiles.wire import EXAMPLES, OneKey

from undersigned import Request
from undersigned.explanation import explain_request
from undersigned.explanation.profile_guess import guess, others
from undersigned.profiles import ADCP_3_2, GNAP, UCP

ALIKE = {"wba-typed": "web-bot-auth-typed", "wba-jwks": "web-bot-auth-typed"}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_profile_of_a_published_request_is_guessed(example):
    found = guess(example.request, OneKey(example.key), now=example.now)
    assert found.name == ALIKE.get(example.name, example.profile.name)
    explained = explain_request(example.request, found, OneKey(example.key), now=example.now)
    assert (explained.error, explained.base) == (None, example.base)


def test_unsigned_or_malformed_request_is_taken_for_the_first_profile():
    for fields in ([], [("Signature-Input", "x")], [("Signature", "a=:AAAA:")]):
        assert guess(Request("GET", "https://a.example/", fields), OneKey(EXAMPLES["gnap"].key), now=0) is ADCP_3_2


def test_invalid_request_is_taken_for_a_profile_with_its_tag():
    example = EXAMPLES["gnap"]
    assert guess(replace(example.request, body=b"{}"), OneKey(example.key), now=example.now) is GNAP


def test_other_profiles_that_verify_the_request_are_named():
    example = EXAMPLES["wba-typed"]
    found = [profile.name for profile in others(example.request, UCP, OneKey(example.key), now=example.now)]
    assert found == ["web-bot-auth-typed", "web-bot-auth-jwks"]

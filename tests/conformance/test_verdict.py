"""Verdicts of our own: a request, a profile, and the outcome that it should have."""

from __future__ import annotations

import pytest
from tests.vectors.corpora import PUBLISHED

from undersigned import KeyPair, Request, Signer, profiles
from undersigned.conformance import Corpus, VectorSet, grade
from undersigned.conformance.verdict import VerdictCase

PAIR = KeyPair.generate("ed25519", keyid="k")
[KEY] = PAIR.key_set().keys.values()
NOW = 1_790_000_000


def verdict(
    expected: str, *, signed: bool = True, key=KEY, profile=profiles.ACTIVITYPUB, now: int = NOW, agent_form=None
) -> VerdictCase:
    used = profile.derive(algorithms=frozenset({"ed25519"}))
    request = Request("GET", "https://own.test/p")
    fields = Signer(PAIR.signing_key(), profile=used).sign(request, created=NOW).fields if signed else ()
    return VerdictCase(
        name="own",
        request=Request("GET", request.url, fields),
        profile=used,
        key=key,
        now=now,
        expected=expected,
        agent_form=agent_form,
    )


WEB_BOT_AUTH = {"profile": profiles.WEB_BOT_AUTH_STRING, "signed": False}


@pytest.mark.parametrize(
    "given",
    [
        verdict("verified"),
        verdict("invalid", key=None),
        verdict("invalid", now=NOW + 100_000),
        verdict("rejected", now=NOW + 100_000),
        verdict("unknown", **WEB_BOT_AUTH),
        verdict("rejected", **WEB_BOT_AUTH),
        verdict("unknown", profile=profiles.WEB_BOT_AUTH_STRING, agent_form="string"),
    ],
)
def test_right_verdict_has_no_difference(given):
    assert grade(given).difference is None


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (verdict("invalid"), "verified"),
        (verdict("rejected"), "verified"),
        (verdict("verified", key=None), "invalid"),
        (verdict("invalid", **WEB_BOT_AUTH), "unknown"),
    ],
)
def test_wrong_verdict_is_a_difference(given, found):
    difference = grade(given).difference
    assert (difference.subject, difference.found) == ("outcome", found)


def test_profile_has_its_own_vectors():
    of_tap = PUBLISHED.by("tap")
    assert [vector.name for one in of_tap.sets for vector in one.vectors] == ["tap: verdict"]
    assert len(PUBLISHED.by("adcp-webhook")) == 29
    assert len(PUBLISHED.by("web-bot-auth-string")) == 26 + 1
    assert Corpus([VectorSet("own", [verdict("verified")])], []).by("tap").sets == []

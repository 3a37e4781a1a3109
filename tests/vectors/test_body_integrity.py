"""The published facts about body integrity, each made real: a request that is signed, changed and verified."""

from __future__ import annotations

import pytest
from tests.conformance.decision import decide
from tests.vectors.corpora import PUBLISHED, vectors

from undersigned.errors import CHECKS

SET = "request-signing/body-integrity-policy"
NOT_OF_THE_SIGNATURE = {"name", "id", "expected", "fallback_auth_valid"}


def distinct() -> list:
    """Return one parameter for each set of facts that can change what the verifier finds."""
    facts = {}
    for param in vectors(PUBLISHED, SET):
        members = param.values[0].case
        facts.setdefault(str([pair for pair in sorted(members.items()) if pair[0] not in NOT_OF_THE_SIGNATURE]), param)
    return list(facts.values())


@pytest.mark.parametrize("fact", distinct())
def test_facts_about_the_signature_equal_the_result_of_the_verifier(fact):
    """Each fact makes a request that is rejected at the step of the fact and not earlier."""
    result = decide(fact.verifier(), fact.request(), policy=fact.policy)
    covers, signed, valid = fact.covers_content_digest, fact.signature_present, fact.cryptographic_signature_valid
    if result.code is None:
        assert not signed or (valid and fact.digest_matches_body)
        return
    expected = 0
    if fact.signature_header_state == "malformed_pair":
        expected = 1
    elif signed and covers == (fact.profile.digest.policy == "forbidden") and fact.profile.digest.policy != "either":
        expected = 6
    elif signed:
        expected = 10 if not valid else 11
    assert result.step == CHECKS[expected]

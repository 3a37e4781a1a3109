from __future__ import annotations

import pytest

from undersigned import MemoryReplayStore, VerificationUnavailable, Verifier
from undersigned.conformance import grade
from undersigned.conformance.body_integrity import BodyIntegrityFact
from undersigned.conformance.document import Document
from undersigned.conformance.tampering import KEYS, NOW

ACCEPTED = {
    "endpoint_profile": "3.2",
    "mode": "required_for",
    "has_body": True,
    "signature_present": True,
    "fallback_auth_valid": False,
    "expected": {"action": "accept", "authentication_source": "signature", "verified_signer_identity": True},
}
REJECTED = {
    **ACCEPTED,
    "signature_present": False,
    "expected": {
        "action": "reject",
        "error_code": "request_signature_required",
        "verified_signer_identity": False,
    },
}


def fact(case: dict, **changes) -> BodyIntegrityFact:
    return BodyIntegrityFact("own", Document({**case, **changes}))


def first(case: dict, **changes):
    return grade(fact(case, **changes)).difference


def expecting(case: dict, **changes) -> dict:
    return {**case, "expected": {**case["expected"], **changes}}


@pytest.mark.parametrize("case", [ACCEPTED, REJECTED])
def test_correct_fact_has_no_difference(case):
    assert first(case) is None


@pytest.mark.parametrize(
    ("case", "subject", "found"),
    [
        (expecting(ACCEPTED, action="reject"), "action", "accept"),
        (expecting(ACCEPTED, action="accept_with_warning"), "action", "accept"),
        (expecting(ACCEPTED, authentication_source="fallback"), "authentication source", "signature"),
        (expecting(ACCEPTED, verified_signer_identity=False), "verified signer identity", "true"),
        (expecting(REJECTED, action="accept"), "action", "reject"),
        (expecting(REJECTED, error_code="request_signature_invalid"), "code", "request_signature_required"),
        (expecting(ACCEPTED, error_code="request_signature_invalid"), "code", "none"),
        (expecting(REJECTED, verified_signer_identity=True), "verified signer identity", "false"),
    ],
)
def test_wrong_fact_has_its_difference_in_that_place(case, subject, found):
    difference = first(case)
    assert (difference.subject, difference.found) == (subject, found)


def test_rejection_is_called_unauthenticated_only_when_the_caller_must_act(monkeypatch):
    expected = {"action": "reject_unauthenticated", "verified_signer_identity": False}
    assert first(REJECTED, expected=expected) is None

    class Down(MemoryReplayStore):
        def claim(self, *_arguments, **_named):
            raise ConnectionError("down")

    down = Verifier(fact(ACCEPTED).profile, keys=KEYS, replay=Down(), clock=lambda: NOW)
    monkeypatch.setattr(BodyIntegrityFact, "verifier", lambda _self: down)
    assert isinstance(fact(ACCEPTED).result().error, VerificationUnavailable)
    assert first(ACCEPTED, expected=expected).found == "reject"


@pytest.mark.parametrize("mode", ["warn_for", "protocol_methods_warn_for"])
def test_warning_is_a_separate_action(mode):
    warned = {"action": "accept_with_warning", "authentication_source": "fallback", "verified_signer_identity": False}
    changes = {"mode": mode, "digest_matches_body": False, "fallback_auth_valid": True, "expected": warned}
    assert first(ACCEPTED, **changes) is None


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"endpoint_profile": "3.3"}, "endpoint_profile is not 3.1 or 3.2"),
        ({"endpoint_profile": 3.2}, "endpoint_profile is not a string"),
        ({"mode": "maybe_for"}, "mode is not one of the policy's lists"),
        ({"mode": "protocol_methods_maybe_for"}, "mode is not one of the policy's lists"),
        ({"legacy_digest_policy": "maybe"}, "digest.policy: give one"),
        ({"has_body": None}, "has_body is not true or false"),
        ({"fallback_auth_valid": "no"}, "fallback_auth_valid is not true or false"),
        ({"expected": {}}, "action is not a string"),
    ],
)
def test_malformed_fact_fails_with_its_fault(changes, fault):
    difference = first(ACCEPTED, **changes)
    assert difference.subject == "not a vector"
    assert difference.found.startswith(fault)

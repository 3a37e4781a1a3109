"""What a policy decides, for every demand, every result of verification and every other credential."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from undersigned import Operation, Policy, Request, SignatureError, profiles
from undersigned.errors import Reason

JSON = [("Content-Type", "application/json")]
HOOK = {"push_notification_config": {"url": "https://b.example", "authentication": {"schemes": ["Bearer"]}}}
MALFORMED = {"signature_header_malformed", "signature_params_incomplete", "target_uri_malformed", "body_malformed"}
"""Reasons for which no other credential makes up."""

FAILED = {reason: profiles.ADCP_3_2.error(reason, step=10, detail="") for reason in get_args(Reason)}
FALLBACK = pytest.mark.parametrize("fallback", [False, True])


def decide(demand, signature, *, fallback, content: object = None) -> tuple[str, SignatureError | None]:
    policy = Policy() if demand == "none" else Policy(**{f"{demand}_for": ["buy"]})
    request = Request("POST", "https://a.example/buy", JSON, json.dumps(content))
    verdict = policy.decide(Operation("buy"), signature, request, fallback=fallback, profile=profiles.ADCP_3_2)
    return verdict.outcome, verdict.error


@FALLBACK
@pytest.mark.parametrize(
    ("demand", "unsigned", "failed"),
    [
        ("required", "ask", "reject"),
        ("warn", "accept", "ask"),
        ("supported", "accept", "reject"),
        ("none", "accept", "reject"),
    ],
)
def test_demand_says_what_becomes_of_a_request_without_a_valid_signature(demand, unsigned, failed, fallback):
    """Without another authenticator there is nobody to ask, and no credential makes up for a malformed signature."""
    asked = "ask" if fallback else "reject"
    assert decide(demand, "verified", fallback=fallback) == ("accept", None)
    outcome, error = decide(demand, "unsigned", fallback=fallback)
    assert outcome == (asked if unsigned == "ask" else unsigned)
    assert (error and (error.reason, error.step)) == (None if outcome == "accept" else ("signature_required", 0))
    for reason, error in FAILED.items():
        wanted = asked if failed == "ask" and reason not in MALFORMED else "reject"
        assert decide(demand, error, fallback=fallback) == (wanted, error)


@FALLBACK
@pytest.mark.parametrize("demand", ["required", "warn", "supported", "none"])
def test_registration_of_a_webhook_must_be_signed_whatever_other_credential_is_valid(demand, fallback):
    assert decide(demand, "verified", fallback=fallback, content=HOOK) == ("accept", None)
    outcome, error = decide(demand, "unsigned", fallback=fallback, content=HOOK)
    assert (outcome, error.code, error.step) == ("reject", "request_signature_required", 0)
    for failure in FAILED.values():
        assert decide(demand, failure, fallback=fallback, content=HOOK) == ("reject", failure)

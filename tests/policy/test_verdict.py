"""What a policy decides, for every demand, every result of verification and every other credential."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import (
    MalformedSignature,
    Operation,
    Policy,
    Request,
    SignatureError,
    SignatureRejected,
    VerificationUnavailable,
    profiles,
)

JSON = [("Content-Type", "application/json")]
DEMANDS = ("required", "warn", "supported", "none")
ACCEPTED = ("accept", None)
HOOK = {"push_notification_config": {"url": "https://b.example", "authentication": {"schemes": ["Bearer"]}}}


def failure(reason: str = "signature_invalid") -> SignatureError:
    return profiles.ADCP_3_2.error(reason, step=10, detail="")


def decide(
    demand="none", signature="unsigned", *, must_be_signed=False, fallback=False
) -> tuple[str, SignatureError | None]:
    policy = Policy() if demand == "none" else Policy(**{f"{demand}_for": ["buy"]})
    request = Request("POST", "https://a.example/buy", JSON, json.dumps(HOOK) if must_be_signed else "{}")
    verdict = policy.decide(Operation("buy"), signature, request, fallback=fallback, profile=profiles.ADCP_3_2)
    return verdict.outcome, verdict.error


REASONS = (
    "signature_header_malformed",
    "signature_tag_invalid",
    "signature_invalid",
    "signature_replayed",
    "signature_rate_abuse",
    "signature_jwks_unavailable",
    "target_uri_malformed",
    "body_malformed",
)
failures = st.sampled_from(REASONS).map(failure)
results = st.sampled_from(["verified", "unsigned"]) | failures
demands = st.sampled_from(DEMANDS)


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.parametrize("must", [False, True])
@pytest.mark.parametrize("fallback", [False, True])
def test_verified_signature_is_accepted(demand, must, fallback):
    assert decide(demand, "verified", must_be_signed=must, fallback=fallback) == ACCEPTED


def test_unsigned_request_is_rejected_at_step_0_when_its_operation_must_be_signed():
    outcome, error = decide("required")
    assert outcome == "reject"
    assert isinstance(error, SignatureRejected)
    assert (error.code, error.step) == ("request_signature_required", 0)


def test_unsigned_request_needs_another_credential_when_its_operation_must_be_signed():
    outcome, error = decide("required", fallback=True)
    assert (outcome, error.code) == ("ask", "request_signature_required")


@pytest.mark.parametrize("demand", ["warn", "supported", "none"])
@pytest.mark.parametrize("fallback", [False, True])
def test_unsigned_request_is_accepted_when_its_operation_need_not_be_signed(demand, fallback):
    assert decide(demand, fallback=fallback) == ACCEPTED


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.parametrize("fallback", [False, True])
def test_unsigned_webhook_registration_is_rejected_whatever_other_credential_is_valid(demand, fallback):
    outcome, error = decide(demand, must_be_signed=True, fallback=fallback)
    assert (outcome, error.code) == ("reject", "request_signature_required")


@pytest.mark.parametrize("demand", ["required", "supported", "none"])
@pytest.mark.parametrize("fallback", [False, True])
def test_failed_signature_is_rejected_with_its_own_code(demand, fallback):
    error = failure("signature_replayed")
    assert decide(demand, error, fallback=fallback) == ("reject", error)


def test_failed_signature_needs_another_credential_under_warn():
    error = failure("signature_components_incomplete")
    assert decide("warn", error, fallback=True) == ("ask", error)
    assert decide("warn", error) == ("reject", error)


@pytest.mark.parametrize(
    "reason", ["signature_header_malformed", "signature_params_incomplete", "target_uri_malformed", "body_malformed"]
)
def test_malformed_message_is_never_forgiven(reason):
    error = failure(reason)
    assert isinstance(error, MalformedSignature)
    assert decide("warn", error, fallback=True) == ("reject", error)


def test_webhook_registration_is_not_forgiven_by_warn():
    error = failure()
    assert decide("warn", error, must_be_signed=True, fallback=True) == ("reject", error)


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.parametrize("reason", ["signature_jwks_unavailable", "signature_revocation_stale"])
def test_unavailable_source_accepts_nobody_on_their_signature(demand, reason):
    error = failure(reason)
    assert isinstance(error, VerificationUnavailable)
    assert decide(demand, error) == ("reject", error)
    assert decide(demand, error, fallback=True) == ("ask" if demand == "warn" else "reject", error)


@given(demand=demands, signature=results, must=st.booleans())
def test_another_credential_never_turns_accept_into_reject(demand, signature, must):
    without = decide(demand, signature, must_be_signed=must)
    with_it = decide(demand, signature, must_be_signed=must, fallback=True)
    assert without[0] != "ask"
    assert without[0] == "reject" or with_it == without
    assert with_it[0] != "reject" or without[0] == "reject"
    assert (with_it[1] is None) == (with_it[0] == "accept")


@given(demand=demands, signature=results, fallback=st.booleans())
def test_request_that_must_be_signed_is_accepted_only_with_a_signature(demand, signature, fallback):
    outcome, _ = decide(demand, signature, must_be_signed=True, fallback=fallback)
    assert outcome == ("accept" if signature == "verified" else "reject")

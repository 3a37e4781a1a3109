from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undersigned import SignatureError, SignatureRejected, VerificationUnavailable
from undersigned.errors import Reason, signature_error
from undersigned.policy.settlement import Demand, Settlement, settle

DEMANDS = get_args(Demand)
PREFIX = "request_"


def failed(reason: str = "signature_invalid") -> SignatureError:
    return signature_error(reason, PREFIX, step=10, detail="")


def settled(demand="none", signature="unsigned", *, must_be_signed=False, fallback=False) -> Settlement:
    return settle(demand, signature, must_be_signed=must_be_signed, fallback=fallback, prefix=PREFIX)


failures = st.sampled_from([reason for reason in get_args(Reason) if reason != "signature_required"]).map(failed)
judgements = st.sampled_from(["verified", "unsigned"]) | failures
demands = st.sampled_from(DEMANDS)


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.parametrize("must", [False, True])
@pytest.mark.parametrize("fallback", [False, True])
def test_a_verified_signature_is_accepted_and_says_who_the_caller_is(demand, must, fallback):
    assert settled(demand, "verified", must_be_signed=must, fallback=fallback) == Settlement("accept", "signature")


def test_an_unsigned_request_that_has_to_be_signed_is_refused_at_step_0():
    settlement = settled("required")
    assert (settlement.outcome, settlement.source) == ("reject", "none")
    assert isinstance(settlement.error, SignatureRejected)
    assert (settlement.error.code, settlement.error.step) == ("request_signature_required", 0)


def test_another_credential_stands_in_for_a_required_signature_that_is_not_there():
    assert settled("required", fallback=True) == Settlement("accept", "fallback")


@pytest.mark.parametrize("demand", ["warn", "supported", "none"])
def test_an_unsigned_request_that_need_not_be_signed_is_accepted(demand):
    assert settled(demand) == Settlement("accept", "none")
    assert settled(demand, fallback=True) == Settlement("accept", "fallback")


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.parametrize("fallback", [False, True])
def test_no_credential_stands_in_where_the_request_must_be_signed(demand, fallback):
    settlement = settled(demand, must_be_signed=True, fallback=fallback)
    assert settlement.outcome == "reject"
    assert settlement.error is not None
    assert settlement.error.code == "request_signature_required"


@pytest.mark.parametrize("demand", ["required", "supported", "none"])
@pytest.mark.parametrize("fallback", [False, True])
def test_a_failed_signature_is_refused_with_its_own_code_whatever_else_is_valid(demand, fallback):
    error = failed("signature_replayed")
    assert settled(demand, error, fallback=fallback) == Settlement("reject", "none", error)


def test_under_warn_a_failed_signature_is_recorded_and_another_credential_carries_the_request():
    error = failed("signature_components_incomplete")
    assert settled("warn", error, fallback=True) == Settlement("accept_with_warning", "fallback", error)


def test_under_warn_a_failed_signature_alone_is_refused_with_its_own_code():
    error = failed()
    assert settled("warn", error) == Settlement("reject", "none", error)


@pytest.mark.parametrize("reason", ["signature_header_malformed", "target_uri_malformed", "body_malformed"])
def test_what_cannot_be_read_in_one_way_is_never_forgiven(reason):
    error = failed(reason)
    assert settled("warn", error, fallback=True) == Settlement("reject", "none", error)


def test_the_webhook_rule_is_not_forgiven_by_warn():
    error = failed()
    assert settled("warn", error, must_be_signed=True, fallback=True) == Settlement("reject", "none", error)


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.parametrize("reason", ["signature_jwks_unavailable", "signature_revocation_stale"])
def test_a_source_that_is_down_accepts_nobody_on_their_signature(demand, reason):
    error = failed(reason)
    assert isinstance(error, VerificationUnavailable)
    assert settled(demand, error) == Settlement("reject", "none", error)
    carried = settled(demand, error, fallback=True)
    assert carried.source == ("fallback" if demand == "warn" else "none")
    assert carried.error is error


@settings(deadline=None)
@given(demand=demands, signature=judgements, must=st.booleans(), fallback=st.booleans())
def test_only_a_verified_signature_gives_a_signer_identity(demand, signature, must, fallback):
    settlement = settled(demand, signature, must_be_signed=must, fallback=fallback)
    assert (settlement.source == "signature") == (signature == "verified")
    assert (settlement.error is None) == (settlement.outcome == "accept")
    assert settlement.outcome != "reject" or settlement.source == "none"


@settings(deadline=None)
@given(demand=demands, signature=judgements, must=st.booleans())
def test_another_credential_only_ever_helps_and_matters_only_where_it_is_asked(demand, signature, must):
    without = settled(demand, signature, must_be_signed=must)
    with_it = settled(demand, signature, must_be_signed=must, fallback=True)
    if without.outcome != "reject":
        assert with_it.outcome == without.outcome
    if with_it.outcome == "reject":
        assert without.outcome == "reject"


@settings(deadline=None)
@given(signature=judgements, must=st.booleans(), fallback=st.booleans())
def test_required_accepts_nothing_that_a_weaker_demand_refuses(signature, must, fallback):
    accepted = [
        settled(demand, signature, must_be_signed=must, fallback=fallback).outcome != "reject" for demand in DEMANDS
    ]
    required, warn, supported, none = accepted
    assert required <= supported == none <= warn


@settings(deadline=None)
@given(demand=demands, signature=judgements, fallback=st.booleans())
def test_where_a_request_must_be_signed_only_a_signature_helps(demand, signature, fallback):
    settlement = settled(demand, signature, must_be_signed=True, fallback=fallback)
    assert (settlement.outcome == "accept") == (signature == "verified")
    assert settlement.outcome != "accept_with_warning"

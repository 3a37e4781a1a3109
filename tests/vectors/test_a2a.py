"""The published A2A vectors: which operation a message names, and what becomes of it."""

from __future__ import annotations

import pytest
from tests.vectors.published import (
    ROOT,
    judged,
    policy_of,
    request_of,
    resolved,
    settled,
    vectors,
    verifier_of,
)

from undersigned import profiles
from undersigned.a2a import A2AOperation
from undersigned.jsonrpc import JSONRPCOperation
from undersigned.operation import PathOperation, UnresolvedOperation

A2A = vectors("a2a/*/*.json")
REGISTRATIONS = vectors("negative/027*.json", "profile-3.2/negative/027*.json")
PROTOCOL_METHODS = vectors("negative/028*.json", "profile-3.2/negative/028*.json")


def code(settlement):
    return settlement.error.code if settlement.error else None


@pytest.mark.skipif(not ROOT.is_dir(), reason=f"no published vectors at {ROOT}")
def test_all_published_messages_are_here():
    assert len(A2A) == 33


@pytest.mark.parametrize("vector", A2A)
def test_a_published_message_ends_as_published(vector):
    request, expected = request_of(vector), vector["expected_outcome"]
    policy, verifier = policy_of(vector, A2AOperation()), verifier_of(vector, profiles.ADCP_3_2)
    settlement = settled(policy, verifier, request)
    assert (settlement.outcome == "accept") == expected["success"]
    assert code(settlement) == expected.get("error_code")
    assert {"signature": "verified", "none": "unsigned"}.get(settlement.source) == expected.get("status", "unsigned")


@pytest.mark.parametrize("vector", A2A)
def test_a_published_message_names_the_published_operation_or_none_at_all(vector):
    operation, expected = resolved(policy_of(vector, A2AOperation()), request_of(vector)), vector["expected_outcome"]
    if isinstance(operation, UnresolvedOperation):
        assert "resolved_operation" not in expected
        assert expected["error_code"] == "request_body_malformed"
    else:
        assert operation.name == expected["resolved_operation"]
        assert operation.name == expected.get("dispatched_operation", operation.name)


@pytest.mark.parametrize(
    "vector", [param for param in A2A if "expected_signature_base" in (param.values[0] or ())] or A2A
)
def test_a_published_signature_holds_over_the_published_base_even_where_the_message_is_refused(vector):
    request = request_of(vector)
    proven = verifier_of(vector, profiles.ADCP_3_2).authenticate(request)
    assert proven.signature_base == vector["expected_signature_base"]
    assert judged(verifier_of(vector, profiles.ADCP_3_2), request) == "verified"


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("vector", REGISTRATIONS)
def test_an_unsigned_registration_of_webhook_credentials_is_refused_whatever_else_is_valid(vector, fallback):
    policy, verifier = policy_of(vector, PathOperation()), verifier_of(vector, profiles.ADCP_3_2)
    settlement = settled(policy, verifier, request_of(vector), fallback=fallback)
    assert code(settlement) == vector["expected_outcome"]["error_code"]


@pytest.mark.parametrize("resolver", [JSONRPCOperation(), A2AOperation()])
@pytest.mark.parametrize("vector", PROTOCOL_METHODS)
def test_an_unsigned_protocol_method_that_has_to_be_signed_is_refused(vector, resolver):
    policy, verifier = policy_of(vector, resolver), verifier_of(vector, profiles.ADCP_3_2)
    request = request_of(vector)
    assert code(settled(policy, verifier, request)) == vector["expected_outcome"]["error_code"]
    assert settled(policy, verifier, request, fallback=True).outcome == "accept"

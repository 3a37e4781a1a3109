"""The published vectors about operations: what is verified, what is dispatched, and what no other credential
excuses."""

from __future__ import annotations

import pytest
from tests.vectors.corpora import published_params

from undersigned.conformance.result import verify
from undersigned.policy.a2a import A2AResolver
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import UnresolvedOperation
from undersigned.policy.policy import Policy

A2A = "request-signing/a2a"
REQUESTS = ("request-signing", "request-signing/profile-3.2")


def has_number(number: str):
    return lambda vector: vector.name.startswith(f"negative/{number}")


def code(result) -> str | None:
    return None if result.error is None else result.error.code


def test_every_published_message_has_a_copy():
    assert len(published_params(A2A)) == 33


@pytest.mark.parametrize("vector", published_params(A2A))
def test_published_message_names_the_published_operation_or_none(vector):
    expected = vector.document.members["expected_outcome"]
    try:
        operation = vector.policy.resolver.resolve(vector.request)
    except UnresolvedOperation:
        assert "resolved_operation" not in expected
        assert expected["error_code"] == "request_body_malformed"
    else:
        assert operation.name == expected["resolved_operation"]


@pytest.mark.parametrize("vector", published_params(A2A, which=lambda vector: vector.base is not None))
def test_published_signature_is_valid_for_its_base_even_when_the_message_is_rejected(vector):
    proven = vector.verifier().authenticate(vector.request)
    assert proven.signature_base == vector.base == vector.rebuilt_base()
    assert vector.verifier().verify(vector.request).signature_base == vector.base


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("vector", published_params(*REQUESTS, which=has_number("027")))
def test_unsigned_webhook_registration_is_rejected_with_any_other_credential(vector, fallback):
    result = verify(vector.verifier(), vector.request, policy=vector.policy, fallback=fallback)
    assert code(result) == vector.code


@pytest.mark.parametrize("resolver", [JSONRPCResolver(), A2AResolver()])
@pytest.mark.parametrize("vector", published_params(*REQUESTS, which=has_number("028")))
def test_unsigned_protocol_method_is_rejected_when_it_must_be_signed(vector, resolver):
    policy = Policy(protocol_methods_required_for=vector.policy.protocol_methods_required_for, resolver=resolver)
    assert code(verify(vector.verifier(), vector.request, policy=policy)) == vector.code
    carried = verify(vector.verifier(), vector.request, policy=policy, fallback=True)
    assert (carried.admitted is not None, carried.source) == (True, "fallback")

"""The published vectors about operations: what is verified, what is dispatched, and what no other credential
excuses."""

from __future__ import annotations

import pytest
from tests.conformance.decision import decide
from tests.vectors.corpora import PUBLISHED, vectors

from undersigned import Verifier
from undersigned.policy import A2AResolver, JSONRPCResolver, Policy, UnresolvedOperation

A2A = "request-signing/a2a"
REQUESTS = ("request-signing", "request-signing/profile-3.2")


def has_number(number: str):
    return lambda vector: vector.name.startswith(f"negative/{number}")


def verifier(vector) -> Verifier:
    return Verifier(vector.profile, **vector.sources())


@pytest.mark.parametrize("vector", vectors(PUBLISHED, A2A))
def test_published_message_names_the_published_operation_or_none(vector):
    expected = vector.expected
    try:
        operation = vector.policy.resolver.resolve(vector.request)
    except UnresolvedOperation:
        assert "resolved_operation" not in expected
        assert expected["error_code"] == "request_body_malformed"
    else:
        assert operation.name == expected["resolved_operation"]


@pytest.mark.parametrize("vector", vectors(PUBLISHED, A2A, which=lambda vector: vector.base is not None))
def test_published_signature_is_valid_for_its_base_even_when_the_message_is_rejected(vector):
    assert verifier(vector).verify(vector.request).signature_base == vector.base == vector.rebuilt_base()


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("vector", vectors(PUBLISHED, *REQUESTS, which=has_number("027")))
def test_unsigned_webhook_registration_is_rejected_with_any_other_credential(vector, fallback):
    result = decide(verifier(vector), vector.request, policy=vector.policy, fallback=fallback)
    assert result.code == vector.code


@pytest.mark.parametrize("resolver", [JSONRPCResolver(), A2AResolver()])
@pytest.mark.parametrize("vector", vectors(PUBLISHED, *REQUESTS, which=has_number("028")))
def test_unsigned_protocol_method_is_rejected_when_it_must_be_signed(vector, resolver):
    policy = Policy(protocol_methods_required_for=vector.policy.protocol_methods_required_for, resolver=resolver)
    assert decide(verifier(vector), vector.request, policy=policy).code == vector.code
    carried = decide(verifier(vector), vector.request, policy=policy, fallback=True)
    assert (carried.code is None, carried.source) == (True, "fallback")

"""The project's own vectors: made by their recipes, graded by the library, and complete."""

from __future__ import annotations

from typing import get_args

import pytest
from tests.conformance.adcp import RequestVector
from tests.vectors import make_own
from tests.vectors.corpora import OWN, SIGNING, check_each, of_sets
from tests.vectors.recipes.keys import WARNING

from undersigned.errors import Reason

OF_DISCOVERY = (
    "capabilities_unreachable brand_json_url_missing brand_json_unreachable brand_json_malformed brand_origin_mismatch "
    "agent_not_in_brand_json brand_json_ambiguous key_origin_mismatch key_origin_missing jwks_untrusted jwks_malformed "
    "identity_malformed"
)
NO_MESSAGE = {
    **{f"signature_{name}": "a source reports it: tests/discovery" for name in OF_DISCOVERY.split()},
    "signature_server_unsupported": "the server under the middlewares causes it, whatever the message says",
    "signature_params_unexpected": "the AdCP profiles forbid no parameter: tests/profiles",
    "signature_identity_missing": "the AdCP profiles ask for no header field: tests/profiles",
}
"""The reasons that nothing in a message and nothing a verifier is given can cause."""

NOT_OF_THE_PROFILE = {
    "request-signing": {},
    "request-signing/profile-3.2": {"signature_components_unexpected": "it requires the digest that this forbids"},
    "webhook-signing": {"signature_components_unexpected": "it requires the digest that this forbids"},
}
"""The reasons that a profile has no use for."""


@pytest.mark.parametrize("cases", of_sets(OWN.cases))
def test_own_vectors_have_the_outcome_and_step_of_their_recipes(cases):
    check_each(cases, lambda case: case.check())


def test_no_own_vector_is_set_aside():
    assert not OWN.not_run


def test_every_reason_a_message_can_cause_has_a_vector():
    held = {vector.code.partition("_")[2] for vector in by_set("") if vector.code}
    assert held == set(get_args(Reason)) - NO_MESSAGE.keys()


@pytest.mark.parametrize("name", SIGNING)
def test_every_reason_has_a_vector_under_every_profile(name):
    held = {vector.code.partition("_")[2] for vector in by_set(name) if vector.code}
    assert held == set(get_args(Reason)) - NO_MESSAGE.keys() - NOT_OF_THE_PROFILE[name].keys()


@pytest.mark.parametrize("name", SIGNING)
def test_every_step_of_the_checklist_rejects_a_vector_under_every_profile(name):
    steps = {vector.expected["failed_step"] for vector in by_set(name) if vector.code}
    assert steps == {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, "9a", 10, 11, 12, 13, 14}


@pytest.mark.parametrize("name", SIGNING)
def test_every_profile_accepts_both_algorithms_and_both_digests(name):
    accepted = [vector.result().signature for vector in by_set(name) if vector.code is None]
    signed = [signature for signature in accepted if signature is not None]
    assert {signature.algorithm for signature in signed} == {"ed25519", "ecdsa-p256-sha256"}
    bases = "\n".join(signature.signature_base for signature in signed)
    assert '"content-digest": sha-256=:' in bases
    assert '"content-digest": sha-512=:' in bases
    assert ", sha-512=:" in bases
    assert {signature.label for signature in signed} == {"sig1", "own"}


def test_every_digest_policy_has_vectors_in_its_profile():
    policies = {vector.profile.digest.policy for vector in by_set("request-signing")}
    assert policies == {"required", "forbidden", "either"}


def test_key_file_says_that_its_keys_are_public():
    made = make_own.documents()
    assert {made[f"{name}/keys.json"]["_WARNING"] for name in ("request-signing", "webhook-signing")} == {WARNING}


def by_set(name: str) -> list[RequestVector]:
    return [case.vector for case in OWN.sets(name) if isinstance(case.vector, RequestVector)]

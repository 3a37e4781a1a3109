"""Every AdCP request and webhook vector, published and our own, by both verifiers and without a policy."""

from __future__ import annotations

import asyncio

import pytest
from tests.conformance.resigning import sign_again
from tests.keys import Awaited
from tests.vectors.corpora import OWN, PUBLISHED, SIGNING, check_each, of_sets, vectors

from undersigned import AsyncVerifier, MemoryReplayStore, SignatureError, VerifiedSignature, Verifier


def is_positive(vector) -> bool:
    return vector.accepted and vector.expected.get("status", "verified") == "verified"


def is_negative(vector) -> bool:
    """Return whether a verifier without a policy rejects it too: at step 0 it only knows that there is no signature."""
    step = vector.expected.get("failed_step")
    return vector.code is not None and (step != 0 or vector.code.endswith("_required"))


PUBLISHED_POSITIVE = [case for case in PUBLISHED.sets(*SIGNING) if is_positive(case.vector)]
PUBLISHED_NEGATIVE = [case for case in PUBLISHED.sets(*SIGNING) if is_negative(case.vector)]
POSITIVE = [*PUBLISHED_POSITIVE, *(case for case in OWN.sets(*SIGNING) if is_positive(case.vector))]
NEGATIVE = [*PUBLISHED_NEGATIVE, *(case for case in OWN.sets(*SIGNING) if is_negative(case.vector))]


def sources(vector, wrap=lambda source: source):
    given = vector.sources()
    return {**given, "keys": wrap(given["keys"]), "replay": wrap(given["replay"])}


def verify_async(vector) -> VerifiedSignature | SignatureError:
    """Return what the asynchronous verifier makes of the vector's request."""
    verifier = AsyncVerifier(vector.profile, **sources(vector, Awaited))
    try:
        return asyncio.run(verifier.verify(vector.request))
    except SignatureError as error:
        return error


def evidence(outcome) -> tuple:
    """Return everything that an outcome tells."""
    if isinstance(outcome, SignatureError):
        return (type(outcome), outcome.code, outcome.step, outcome.detail, outcome.keyid, outcome.signature_base)
    return (outcome,)


@pytest.mark.parametrize("cases", of_sets(POSITIVE))
def test_positive_vectors_are_accepted_once_by_both_verifiers(cases):
    check_each(cases, lambda case: accept_once(case.vector))


def accept_once(vector) -> None:
    roomy = vector.profile.derive(replay=vector.endpoint.replay)
    verifier = Verifier(roomy, **sources(vector))
    verified = verifier.verify(vector.request)
    assert vector.base in {None, verified.signature_base}
    assert verified.label == vector.label
    assert verify_async(vector) == verified
    with pytest.raises(SignatureError) as caught:
        verifier.verify(vector.request)
    assert (caught.value.code, caught.value.step) == (f"{vector.profile.answers.prefix}signature_replayed", 12)


@pytest.mark.parametrize("cases", of_sets(NEGATIVE))
def test_negative_vectors_are_rejected_by_both_verifiers_and_spends_no_nonce(cases):
    check_each(cases, lambda case: reject(case.vector))


def reject(vector) -> None:
    # A verifier without a policy requires a signature whatever the operation is, so it also rejects the vectors about
    # operations (027, 028) as unsigned.
    given = sources(vector)
    held = len(given["replay"]) if isinstance(given["replay"], MemoryReplayStore) else None
    with pytest.raises(SignatureError) as caught:
        Verifier(vector.profile, **given).verify(vector.request)
    error = caught.value
    assert error.code == vector.code, error.explain()
    assert vector.base is None or error.signature_base in {None, vector.base}
    assert evidence(verify_async(vector)) == evidence(error)
    if held is not None:
        # Only a body that is rejected at the last step was authenticated, and its nonce is spent.
        assert len(given["replay"]) == held + (error.step == 14)


def test_every_published_vector_is_signed_again_to_the_same_signature_input():
    """`sign_again` compares the results. This test checks that it compares Signature-Input for every vector."""
    verified = [(vector, vector.result().signature) for vector in (case.vector for case in PUBLISHED_POSITIVE)]
    compared = [sign_again(vector, signature) for vector, signature in verified]
    assert sum("Signature-Input" in names for names in compared) == len(compared)


@pytest.mark.parametrize("vector", vectors(PUBLISHED, "request-signing/a2a", which=lambda vector: vector.base))
def test_published_signature_over_a2a_is_valid_for_its_base_even_when_the_message_is_rejected(vector):
    verified = Verifier(vector.profile, **vector.sources()).verify(vector.request)
    assert verified.signature_base == vector.base == vector.rebuilt_base()


def test_every_published_vector_has_a_copy():
    assert (len(PUBLISHED_POSITIVE), len(PUBLISHED_NEGATIVE)) == (37, 84)

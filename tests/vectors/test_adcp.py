"""Every AdCP request and webhook vector, published and our own, by a verifier that no policy stands before."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.vectors.corpora import OWN, PUBLISHED, SIGNING, params

from undersigned import AsyncVerifier, MemoryReplayStore, SignatureError, VerifiedSignature, Verifier
from undersigned.conformance.resigning import signed_again
from undersigned.verification.screening import screen


def is_positive(vector) -> bool:
    return vector.accepted and vector.expected.text("status", "verified") == "verified"


def is_negative(vector) -> bool:
    """Whether a plain verifier refuses it so: of step 0 it knows only that there is no signature."""
    step = vector.expected.members.get("failed_step")
    return vector.code is not None and (step != 0 or vector.code.endswith("_required"))


PUBLISHED_POSITIVE = params(PUBLISHED, *SIGNING, which=is_positive)
PUBLISHED_NEGATIVE = params(PUBLISHED, *SIGNING, which=is_negative)
POSITIVE = [*PUBLISHED_POSITIVE, *params(OWN, *SIGNING, which=is_positive)]
NEGATIVE = [*PUBLISHED_NEGATIVE, *params(OWN, *SIGNING, which=is_negative)]
ALL = [*POSITIVE, *NEGATIVE]


class Awaited:
    """A source of the vector whose answers have to be awaited."""

    def __init__(self, source):
        self._source = source

    async def find(self, keyid):
        await asyncio.sleep(0)
        return self._source.find(keyid)

    async def full(self, keyid, **options):
        await asyncio.sleep(0)
        return self._source.full(keyid, **options)

    async def claim(self, keyid, nonce, **options):
        await asyncio.sleep(0)
        return self._source.claim(keyid, nonce, **options)


def sources(vector, wrap=lambda source: source):
    return {
        "keys": wrap(vector.state.keys(vector.keys)),
        "replay": wrap(vector.state.store()),
        "revocations": vector.state.revocations(),
        "clock": vector.state.clock(),
    }


def judge(vector, driver=Verifier, **options) -> VerifiedSignature | SignatureError:
    """What becomes of the vector's request."""
    verifier = driver(vector.profile, **sources(vector, **options))
    try:
        verified = verifier.verify(vector.request)
        return verified if driver is Verifier else asyncio.run(verified)
    except SignatureError as error:
        return error


def told(outcome) -> tuple:
    """Everything an outcome tells."""
    if isinstance(outcome, SignatureError):
        return (type(outcome), outcome.code, outcome.step, outcome.detail, outcome.keyid, outcome.signature_base)
    return (outcome,)


@pytest.mark.parametrize("vector", POSITIVE)
def test_a_positive_vector_is_accepted_over_exactly_its_base(vector):
    outcome = judge(vector)
    assert isinstance(outcome, VerifiedSignature), outcome.explain()
    assert vector.base in {None, outcome.signature_base}
    assert outcome.label == vector.label


@pytest.mark.parametrize("vector", NEGATIVE)
def test_a_negative_vector_is_refused_with_exactly_its_code(vector):
    # A plain verifier requires a signature whatever the operation, so the vectors whose policy is about operations
    # (027, 028) are refused as unsigned here too.
    outcome = judge(vector)
    assert isinstance(outcome, SignatureError)
    assert outcome.code == vector.code, outcome.explain()
    if vector.base is not None and outcome.signature_base is not None:
        assert outcome.signature_base == vector.base


@pytest.mark.parametrize("vector", NEGATIVE)
def test_a_negative_vector_writes_nothing_to_the_store_before_its_signature_is_proven(vector):
    store = vector.state.store()
    verifier = Verifier(vector.profile, **{**sources(vector), "replay": store})
    held = len(store) if isinstance(store, MemoryReplayStore) else None
    with pytest.raises(SignatureError) as caught:
        verifier.verify(vector.request)
    if held is not None:
        # Only a body that is refused at the last step was proven, and its nonce is spent.
        assert len(store) == held + (caught.value.step == 14)


@pytest.mark.parametrize("vector", ALL)
def test_both_drivers_give_one_outcome(vector):
    expected = told(judge(vector))
    assert told(judge(vector, AsyncVerifier)) == expected
    assert told(judge(vector, AsyncVerifier, wrap=Awaited)) == expected


@pytest.mark.parametrize("vector", POSITIVE)
def test_a_positive_vector_is_refused_the_second_time(vector):
    roomy = replace(vector.profile, caps=vector.endpoint.profile.caps)
    verifier = Verifier(roomy, **sources(vector))
    verifier.verify(vector.request)
    with pytest.raises(SignatureError) as caught:
        verifier.verify(vector.request)
    assert (caught.value.code, caught.value.step) == (f"{vector.profile.prefix}signature_replayed", 12)


@pytest.mark.parametrize("vector", POSITIVE)
def test_a_positive_vector_is_signed_again_to_the_same_bytes(vector):
    assert not list(filter(None, signed_again(vector, judge(vector).signature_base)))


@pytest.mark.parametrize("vector", PUBLISHED_POSITIVE)
def test_every_published_vector_is_compared_in_all_that_signing_again_gives(vector):
    """Base, Signature-Input, what verifies, and where it is deterministic Signature twice; and Content-Digest."""
    candidate = screen(vector.request, vector.profile, now=vector.now)
    compared = list(signed_again(vector, judge(vector).signature_base))
    expected = (5 if candidate.algorithm == "ed25519" else 3) + (candidate.digest is not None)
    assert len(compared) == expected


def test_every_published_vector_is_here():
    assert (len(PUBLISHED_POSITIVE), len(PUBLISHED_NEGATIVE)) == (37, 84)

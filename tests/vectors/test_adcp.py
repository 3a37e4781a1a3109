"""Every published AdCP request and webhook vector, verified and, where that is deterministic, signed again."""

from __future__ import annotations

import asyncio

import pytest

from tests.vectors.corpus import vectors
from undersigned import AsyncVerifier, Request, SignatureError, VerifiedSignature, Verifier
from undersigned.screening import screen

ALL = vectors("positive", "negative")
POSITIVE = vectors("positive")
NEGATIVE = vectors("negative")


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
        "keys": wrap(vector.keys),
        "replay": wrap(vector.store()),
        "revocations": vector.revocations,
        "clock": lambda: vector.now,
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
    store = vector.store()
    held = len(store)
    verifier = Verifier(vector.profile, **{**sources(vector), "replay": store})
    with pytest.raises(SignatureError):
        verifier.verify(vector.request)
    assert len(store) == held


@pytest.mark.parametrize("vector", ALL)
def test_both_drivers_give_one_outcome(vector):
    expected = told(judge(vector))
    assert told(judge(vector, AsyncVerifier)) == expected
    assert told(judge(vector, AsyncVerifier, wrap=Awaited)) == expected


@pytest.mark.parametrize("vector", POSITIVE)
def test_a_positive_vector_is_refused_the_second_time(vector):
    verifier = Verifier(vector.profile, **sources(vector))
    verifier.verify(vector.request)
    with pytest.raises(SignatureError) as caught:
        verifier.verify(vector.request)
    assert (caught.value.code, caught.value.step) == (f"{vector.profile.prefix}signature_replayed", 12)


@pytest.mark.parametrize("vector", POSITIVE)
def test_a_positive_vector_is_signed_again_to_the_same_bytes(vector):
    request = vector.request
    candidate = screen(request, vector.profile, now=vector.now)
    kept = [(name, value) for name, value in request.headers if name not in {"signature", "signature-input"}]
    components = [component.name for component in candidate.input.components if component.name == "content-digest"]
    signed = vector.signer(candidate.keyid, components=components).signed(
        Request(request.method, request.url, kept, request.body),
        created=candidate.created,
        expires=candidate.expires,
        nonce=candidate.nonce,
        label=candidate.label,
    )
    made = dict(signed.fields)
    assert vector.base in {None, signed.signature_base}
    assert f"{request.field('signature-input')},".startswith(f"{made['Signature-Input']},")
    if candidate.algorithm == "ed25519":
        assert f"{request.field('signature')},".startswith(f"{made['Signature']},")
    else:
        again = Request(request.method, request.url, [*kept, *signed.fields], request.body)
        assert Verifier(vector.profile, **sources(vector)).verify(again).signature_base == signed.signature_base


@pytest.mark.parametrize("vector", POSITIVE)
def test_the_content_digest_of_a_positive_vector_is_made_again_to_the_same_bytes(vector):
    request = vector.request
    published = request.field("content-digest")
    candidate = screen(request, vector.profile, now=vector.now)
    if candidate.digest is None:
        assert published is None
        return
    kept = [(name, value) for name, value in request.headers if name in {"content-type", "host"}]
    signer = vector.signer(candidate.keyid, components=["content-digest"], digests=list(candidate.digest.expected))
    made = dict(signer.sign(Request(request.method, request.url, kept, request.body), created=vector.now))
    assert made["Content-Digest"] == published


def test_every_published_vector_is_here():
    if POSITIVE[0].values[0] is None:
        pytest.skip("no published vectors")
    assert (len(POSITIVE), len(NEGATIVE)) == (37, 84)

"""The merchant of ucp-conformance as it was recorded: we write what it accepts, and judge as it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.keys import OneKey
from tests.profiles.examples import example

from undersigned import MemoryReplayStore, Request, SignatureError, Signer, SigningKey, VerificationKey, Verifier
from undersigned.profiles import UCP, UCP_RESPONSE

PUBLISHED = Path(__file__).parents[1] / "vectors" / "published"
RECORDED = json.loads((PUBLISHED / "profiles" / "ucp" / "merchant-2026-04-08.json").read_text("utf-8"))
SENT, ANSWERED, _, WEBHOOK = RECORDED["examples"]
OURS, HOOK = example(SENT, UCP), example(WEBHOOK, UCP)


def test_we_write_the_request_that_the_merchant_accepted():
    jwk = json.loads((PUBLISHED / "rfc9421_vectors.json").read_text("utf-8"))["keys"]["test-key-ecc-p256"]["jwk"]
    signer = Signer(SigningKey.from_jwk({**jwk, "kid": OURS.key.keyid}), profile=UCP, clock=lambda: SENT["now"] - 5)
    plain = [
        (name, value) for name, value in OURS.request.fields if not name.lower().startswith(("signature", "conte"))
    ]
    plain.append(("Content-Type", "application/json"))
    nonce = OURS.base.partition('nonce="')[2].partition('"')[0]
    request = Request("POST", OURS.request.url, plain, OURS.request.body)
    assert signer.prepare(request, nonce=nonce).signature_base.decode() == OURS.base


@pytest.mark.parametrize("answer", RECORDED["answers"], ids=lambda answer: answer["code"] or "accepted")
def test_we_answer_as_the_merchant_does(answer):
    before, after = answer.get("change", ("", ""))
    request = OURS.request
    fields = [(name, value.replace(before, after)) for name, value in request.fields]
    changed = Request(request.method, request.url, fields, request.body.decode().replace(before, after))
    if not answer["code"]:
        assert OURS.verifier().verify(changed).signature_base == OURS.base
        return
    with pytest.raises(SignatureError) as caught:
        OURS.verifier().verify(changed)
    status = UCP.answers.statuses.get(caught.value.reason, 401)
    assert (caught.value.code, status) == (answer["code"], answer["status"])


def test_webhook_that_is_delivered_again_is_accepted_and_known():
    verifier = HOOK.verifier()
    assert [verifier.verify(HOOK.request).repeated for _ in range(2)] == [False, True]
    assert dict(HOOK.request.fields)["webhook-id"] == dict(HOOK.request.fields)["idempotency-key"]


def test_what_the_merchant_signs_is_verified_with_the_keys_that_it_publishes():
    [jwk] = RECORDED["document"]["signing_keys"]
    keys = OneKey(VerificationKey.from_jwk(jwk))
    verifier = Verifier(UCP_RESPONSE, keys=keys, replay=MemoryReplayStore(), clock=lambda: ANSWERED["now"])
    assert (
        verifier.verify_response(example(ANSWERED, UCP_RESPONSE).response).signature_base == ANSWERED["signature_base"]
    )

from __future__ import annotations

import pytest
from tests.keys import BODY, JSON_FIELD, URL, replace_parts, signed_request, verifier, with_field

from undersigned import Policy, Request
from undersigned.conformance.result import verify
from undersigned.message.content import Content
from undersigned.verification.verifier import AsyncVerifier

WARN = Policy(warn_for=["create_media_buy"])
REQUIRED = Policy(required_for=["create_media_buy"])
UNSIGNED = Request("POST", URL, [JSON_FIELD], BODY)


def test_accepted_request_has_its_signature_and_operation():
    result = verify(verifier(), signed_request(), policy=REQUIRED)
    assert (result.error, result.source, result.admitted.operation.name) == (
        None,
        "signature",
        "create_media_buy",
    )
    assert result.signature.content == Content([BODY])


def test_every_request_must_be_signed_without_a_policy():
    assert verify(verifier(), signed_request(), policy=None).source == "signature"
    assert verify(verifier(), UNSIGNED, policy=None).error.code == "request_signature_required"


def test_rejected_request_has_no_signature_and_no_caller():
    result = verify(verifier(), UNSIGNED, policy=REQUIRED)
    assert (result.admitted, result.signature, result.source) == (None, None, "none")
    assert result.error.code == "request_signature_required"


@pytest.mark.parametrize("policy", [REQUIRED, WARN])
def test_fallback_counts_only_when_the_policy_asks_for_it(policy):
    result = verify(verifier(), UNSIGNED, policy=policy, fallback=True)
    assert (result.error, result.source) == (None, "fallback" if policy is REQUIRED else "none")


def test_failed_signature_is_accepted_with_a_warning_or_rejected_by_the_gate():
    request = replace_parts(signed_request(), body=BODY + b" ")
    forgiven = verify(verifier(), request, policy=WARN, fallback=True)
    assert (forgiven.source, forgiven.admitted.warning.code) == ("fallback", "request_signature_digest_mismatch")
    assert verify(verifier(), request, policy=WARN).error.code == "request_signature_digest_mismatch"
    broken = with_field(request, "signature", None)
    rejected = verify(verifier(), broken, policy=WARN, fallback=True)
    assert (rejected.error.code, rejected.source) == ("request_signature_header_malformed", "none")


def test_verifier_gets_the_body_only_when_it_asks(monkeypatch):
    asked: list[bytes] = []
    authenticate = AsyncVerifier.authenticate
    monkeypatch.setattr(
        AsyncVerifier, "authenticate", lambda self, request: asked.append(request.body) or authenticate(self, request)
    )
    assert verify(verifier(), signed_request(), policy=None).error is None
    assert asked == [b""]


def test_long_unsigned_content_is_decided_as_a_middleware_decides():
    long = b'{"a":"%s"}' % (b"x" * 16_384)
    request = Request("POST", URL.replace("create_media_buy", "get_products"), [JSON_FIELD], long)
    assert verify(verifier(), request, policy=REQUIRED).error is None
    longer = Request("POST", request.url, [JSON_FIELD], long * 4)
    assert verify(verifier(), longer, policy=REQUIRED).error.code == "request_signature_required"

from __future__ import annotations

import pytest
from tests.keys import BODY, JSON_FIELD, URL, changed, signed_request, verifier, with_field

from undersigned import Policy, Request
from undersigned.conformance.result import verify
from undersigned.message.content import Content

WARN = Policy(warn_for=["create_media_buy"])
REQUIRED = Policy(required_for=["create_media_buy"])
UNSIGNED = Request("POST", URL, [JSON_FIELD], BODY)


def test_a_request_that_holds_goes_on_with_its_signature_and_operation():
    result = verify(verifier(), signed_request(), policy=REQUIRED)
    assert (result.error, result.source, result.admitted.operation.name) == (
        None,
        "signature",
        "create_media_buy",
    )
    assert result.signature.content == Content([BODY])


def test_without_a_policy_every_request_has_to_be_signed():
    assert verify(verifier(), signed_request(), policy=None).source == "signature"
    assert verify(verifier(), UNSIGNED, policy=None).error.code == "request_signature_required"


def test_a_refused_request_has_no_signature_and_says_nothing_of_the_caller():
    result = verify(verifier(), UNSIGNED, policy=REQUIRED)
    assert (result.admitted, result.signature, result.source) == (None, None, "none")
    assert result.error.code == "request_signature_required"


@pytest.mark.parametrize("policy", [REQUIRED, WARN])
def test_another_credential_counts_only_where_it_is_asked_for(policy):
    result = verify(verifier(), UNSIGNED, policy=policy, fallback=True)
    assert (result.error, result.source) == (None, "fallback" if policy is REQUIRED else "none")


def test_a_failed_signature_is_forgiven_or_refused_by_the_gate():
    request = changed(signed_request(), body=BODY + b" ")
    forgiven = verify(verifier(), request, policy=WARN, fallback=True)
    assert (forgiven.source, forgiven.admitted.warning.code) == ("fallback", "request_signature_digest_mismatch")
    assert verify(verifier(), request, policy=WARN).error.code == "request_signature_digest_mismatch"
    broken = with_field(request, "signature", None)
    refused = verify(verifier(), broken, policy=WARN, fallback=True)
    assert (refused.error.code, refused.source) == ("request_signature_header_malformed", "none")


def test_the_verifier_is_not_shown_the_body_before_it_asks(monkeypatch):
    asked: list[bytes] = []
    judging = verifier()
    authenticate = type(judging).authenticate
    monkeypatch.setattr(
        type(judging), "authenticate", lambda self, request: asked.append(request.body) or authenticate(self, request)
    )
    assert verify(judging, signed_request(), policy=None).error is None
    assert asked == [b""]

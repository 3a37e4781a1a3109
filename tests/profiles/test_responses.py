"""The published profiles for responses: what each accepts and rejects, and what our signer makes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.keys import OneKey, digest_of, key_pair, verification_key
from tests.profiles.examples import RESPONSES

from undersigned import ConfigurationError, MemoryReplayStore, Request, SignatureError, Signer, SigningError, Verifier
from undersigned.message import Response
from undersigned.profiles import ADCP_3_2, BY_NAME, FAPI_2_REQUEST, FAPI_2_RESPONSE, UCP_RESPONSE, WIMSE, WIMSE_RESPONSE
from undersigned.signature.rules import DigestRule

NOW = 1_795_305_605
ALL = pytest.mark.parametrize("example", RESPONSES.values(), ids=RESPONSES)
OURS = pytest.mark.parametrize(
    "profile", [one for one in BY_NAME.values() if one.message == "response"], ids=lambda p: p.name
)
REQUEST = Request("POST", "https://shop.example/checkout?q=1", [("Authorization", "DPoP at-1")], b"{}")
JSON = [("Content-Type", "application/json")]
TOKEN = ("Workload-Identity-Token", "e30.e30.e30")


def rejection(example, response) -> str:
    with pytest.raises(SignatureError) as caught:
        example.verifier().verify_response(response)
    return caught.value.reason


def sign(profile, response=None, **options) -> Response:
    response = response or Response(201, JSON, b'{"id":1}', request=signed_request())
    signer = Signer(key_pair("ed25519").signing_key(), profile=profile, clock=lambda: NOW)
    fields = signer.sign_response(response, **options)
    return replace(response, fields=[*response.fields, *fields])


def signed_request() -> Request:
    signer = Signer(key_pair("ed25519").signing_key(), profile=FAPI_2_REQUEST, clock=lambda: NOW)
    return replace(REQUEST, fields=[*REQUEST.fields, *signer.sign(REQUEST)])


def verify(profile, response):
    keys = OneKey(verification_key("ed25519"))
    verifier = Verifier(profile, keys=keys, replay=MemoryReplayStore(), clock=lambda: NOW)
    return verifier.verify_response(response)


@ALL
def test_response_is_rejected_when_its_content_or_its_signature_was_changed(example):
    response = example.response
    assert rejection(example, replace(response, body=response.body + b" ")) == "signature_digest_mismatch"
    fields = [(name, f"{value};x=1" if name == "signature-input" else value) for name, value in response.fields]
    assert rejection(example, replace(response, fields=fields)) == "signature_invalid"
    unsigned = [(name, value) for name, value in response.fields if not name.startswith("signature")]
    assert rejection(example, replace(response, fields=unsigned)) == "signature_required"


@ALL
def test_response_to_another_request_is_rejected_if_the_signature_binds_it(example):
    fields = [field for field in example.request.fields if field[0] != "host"]
    other = replace(example.request, url="https://other.example/x", fields=fields)
    if ";req" not in example.base:
        assert example.verifier().verify_response(replace(example.response, request=other))
    else:
        assert rejection(example, replace(example.response, request=other)) == "signature_invalid"


@OURS
def test_signed_response_is_verified_by_its_profile(profile):
    response = Response(201, [*JSON, TOKEN], b'{"id":1}', request=signed_request())
    verified = verify(profile, sign(profile, response))
    assert (verified.method, bytes(verified.content)) == ("POST", b'{"id":1}')
    assert verified.target_uri == "https://shop.example/checkout?q=1"


def test_response_must_cover_the_signature_of_its_request():
    bare = sign(FAPI_2_RESPONSE, Response(201, JSON, b"{}", request=REQUEST))
    assert verify(FAPI_2_RESPONSE, bare)
    with pytest.raises(SignatureError) as caught:
        verify(FAPI_2_RESPONSE, replace(bare, request=signed_request()))
    assert caught.value.reason == "signature_components_incomplete"
    assert '"signature";req must be covered' in caught.value.detail


def test_response_without_content_may_answer_a_request_with_a_digest():
    verified = verify(FAPI_2_RESPONSE, sign(FAPI_2_RESPONSE, Response(204, request=signed_request())))
    assert '"content-digest";req' in verified.components


def test_digest_of_the_request_does_not_bind_the_content_of_the_response():
    profile = FAPI_2_RESPONSE.derive(digest=DigestRule(policy="either"))
    honest = sign(profile, Response(200, JSON, b"{}", request=signed_request()))
    added = ("Content-Digest", digest_of(b"[]"))
    assert bytes(verify(profile, replace(honest, body=b"[]", fields=[*honest.fields, added])).content) == b""


def test_field_of_the_request_does_not_name_the_key_of_the_response():
    agent = ("UCP-Agent", 'profile="https://platform.example/ucp"')
    covered = ("@status", '"ucp-agent";req')
    profile = UCP_RESPONSE.derive(coverage=UCP_RESPONSE.coverage._replace(always=covered))
    asked = replace(REQUEST, fields=[*REQUEST.fields, agent])
    honest = sign(profile, Response(204, request=asked))
    keys = OneKey(verification_key("ed25519"))
    verifier = Verifier(profile, keys=keys, replay=MemoryReplayStore(), clock=lambda: NOW)
    added = ("UCP-Agent", 'profile="https://other.example/.well-known/ucp"')
    verifier.verify_response(replace(honest, fields=[*honest.fields, added]))
    assert keys.asked.covered_value("ucp-agent") is None


def wimse_request(*written, profile=WIMSE) -> Request:
    asking = profile.derive(parameters=profile.parameters._replace(written=frozenset(written)))
    request = replace(REQUEST, fields=[*REQUEST.fields, *JSON, TOKEN])
    signer = Signer(key_pair("ed25519").signing_key(), profile=asking, clock=lambda: NOW)
    return replace(request, fields=[*request.fields, *signer.sign(request)])


@pytest.mark.parametrize(
    ("request_", "echoed", "reason"),
    [
        (wimse_request("wimse-sign-response"), True, None),
        (wimse_request("wimse-sign-response"), False, "signature_params_incomplete"),
        (wimse_request("wimse-sign-response"), "other", "signature_params_unexpected"),
        (wimse_request(), True, None),
        (wimse_request(), False, None),
        (wimse_request(), "other", "signature_params_unexpected"),
        (REQUEST, False, None),
        (REQUEST, "other", "signature_params_unexpected"),
        (replace(REQUEST, fields=[("Signature-Input", "x")]), False, None),
    ],
)
def test_response_has_the_nonce_of_the_request_that_asks_for_a_signature(request_, echoed, reason):
    response = Response(200, [*JSON, TOKEN], b"{}", request=request_)
    plain = WIMSE_RESPONSE.derive(parameters=WIMSE_RESPONSE.parameters._replace(echo="", echo_if=""))
    profile = WIMSE_RESPONSE if echoed is True else plain
    given = {"wimse-req-nonce": echoed} if isinstance(echoed, str) else {}
    subject = sign(profile, response, parameters=given)
    if reason is None:
        assert verify(WIMSE_RESPONSE, subject)
    else:
        with pytest.raises(SignatureError) as caught:
            verify(WIMSE_RESPONSE, subject)
        assert caught.value.reason == reason


def test_response_to_an_unsigned_request_has_no_nonce_of_it():
    response = sign(WIMSE_RESPONSE, Response(200, [TOKEN], request=REQUEST))
    assert "wimse-req-nonce" not in response.fields.combined["signature-input"]
    assert verify(WIMSE_RESPONSE, response)


def test_response_without_content_needs_no_digest():
    response = sign(UCP_RESPONSE, Response(204, request=REQUEST))
    assert verify(UCP_RESPONSE, response).components == ('"@status"',)


def test_response_needs_the_request_that_it_answers():
    lonely = Response(200)
    assert (lonely.method, lonely.url, lonely.query_unknown) == ("", "", False)
    with pytest.raises(SigningError, match=r"^response: pass the request"):
        sign(UCP_RESPONSE, lonely)
    with pytest.raises(ConfigurationError, match=r"^response: give it the request"):
        verify(UCP_RESPONSE, lonely)


def test_profile_for_one_kind_of_message_neither_signs_nor_verifies_the_other():
    response = Response(200, request=REQUEST)
    with pytest.raises(SigningError, match=r"profile for responses"):
        Signer(key_pair("ed25519").signing_key(), profile=ADCP_3_2).sign_response(response)
    with pytest.raises(ConfigurationError, match=r"^profile: adcp-3.2 is for requests"):
        verify(ADCP_3_2, response)
    verifier = Verifier(UCP_RESPONSE, keys=OneKey(verification_key("ed25519")), replay=MemoryReplayStore())
    with pytest.raises(ConfigurationError, match=r"^profile: ucp-response is for responses; pass one .* for requests$"):
        verifier.verify(REQUEST)


@pytest.mark.parametrize("change", [{"fields": [("a b", "c")]}, {"fields": [("X", "a\r\nb")]}])
def test_response_that_a_receiver_could_not_read_is_not_signed(change):
    with pytest.raises(SigningError, match=r"^headers: "):
        sign(UCP_RESPONSE, Response(200, change["fields"], request=REQUEST))


@pytest.mark.parametrize("part", ["@status", '"@method";req', '"@request-target";req', "workload-identity-token"])
def test_response_of_wimse_that_does_not_cover_a_part_is_rejected(part):
    rule = WIMSE_RESPONSE.coverage
    weak = WIMSE_RESPONSE.derive(coverage=rule._replace(always=tuple(one for one in rule.always if one != part)))
    response = Response(200, [TOKEN], request=wimse_request())
    with pytest.raises(SignatureError, match="components_incomplete"):
        verify(WIMSE_RESPONSE, sign(weak, response))


@pytest.mark.parametrize("name", ["keyid", "alg"])
def test_response_of_wimse_with_a_parameter_that_its_token_has_is_rejected(name):
    rule = WIMSE_RESPONSE.parameters._replace(**{name: "optional"}, written=frozenset({name}))
    response = Response(200, [TOKEN], request=wimse_request())
    with pytest.raises(SignatureError, match="params_unexpected"):
        verify(WIMSE_RESPONSE, sign(WIMSE_RESPONSE.derive(parameters=rule), response))

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.keys import (
    BARE,
    BODY,
    EC_PUBLIC,
    FULL,
    JSON_FIELD,
    KEY,
    NOW,
    OTHER_PUBLIC,
    PUBLIC,
    URL,
    changed,
    covering,
    hostile_request,
    signed_request,
    signer,
    with_field,
)

from undersigned import Request, RevocationList, SignatureError, VerificationKey, profiles
from undersigned.limits import LONGEST_BASE
from undersigned.message.content import Content
from undersigned.message.content_digest import content_digest
from undersigned.verification.checklist import identify
from undersigned.verification.screening import screen

VERIFYING = VerificationKey.from_jwk(PUBLIC)


def identified(request: Request | None = None, *, key=VERIFYING, revocations=None, profile=profiles.ADCP_3_2, now=NOW):
    candidate = screen(signed_request() if request is None else request, profile, now=now)
    found = identify(candidate, [] if key is None else [key])
    return found if revocations is None else found.check_revocations([revocations])


def proven(request: Request | None = None, *, profile=profiles.ADCP_3_2):
    return identified(request, profile=profile).prove([False])


def bound(request: Request | None = None, *, profile=profiles.ADCP_3_2, body: bytes = BODY):
    proof = proven(request, profile=profile)
    digest = proof.running_digest()
    if digest is not None:
        digest.update(body)
    return proof.bind(digest, now=NOW)


def rejected(call) -> tuple[str, object]:
    with pytest.raises(SignatureError) as caught:
        call()
    return caught.value.code.removeprefix("request_"), caught.value.step


# Steps 7 to 9


def test_missing_key_is_unknown():
    assert rejected(lambda: identified(key=None)) == ("signature_key_unknown", 7)


@pytest.mark.parametrize("jwk", [{**PUBLIC, "key_ops": ["sign"]}, {**PUBLIC, "adcp_use": "x"}, EC_PUBLIC, {"kid": "k"}])
def test_key_with_another_use_has_the_wrong_purpose(jwk):
    key = VerificationKey.from_jwk(jwk)
    assert rejected(lambda: identified(key=key)) == ("signature_key_purpose_invalid", 8)


def revoking(*keyids: str, next_update: float = NOW + 600) -> RevocationList:
    return RevocationList(revoked=frozenset(keyids), updated=next_update - 900, next_update=next_update)


def test_revoked_key_is_rejected():
    listed = revoking("buyer-ed25519")
    assert rejected(lambda: identified(revocations=listed)) == ("signature_key_revoked", 9)


def test_revocation_applies_even_on_a_stale_list():
    listed = revoking("buyer-ed25519", next_update=NOW - 100_000)
    assert rejected(lambda: identified(revocations=listed)) == ("signature_key_revoked", 9)


def test_stale_list_rejects_every_key():
    assert rejected(lambda: identified(revocations=revoking(next_update=NOW - 3601))) == (
        "signature_revocation_stale",
        9,
    )
    assert identified(revocations=revoking(next_update=NOW - 3600))


def test_purpose_is_checked_before_the_revocation():
    key = VerificationKey.from_jwk({**PUBLIC, "use": "enc"})
    assert rejected(lambda: identified(key=key, revocations=revoking("buyer-ed25519")))[1] == 8


# Steps 9a and 10


def test_key_at_its_cap_is_rejected_before_its_signature_is_verified():
    request = changed(signed_request(), url="https://h/%zz", method="get")
    assert rejected(lambda: identified(request).prove([True])) == ("signature_rate_abuse", "9a")


@pytest.mark.parametrize(
    "change",
    [
        {"url": "https://"},
        {"url": "https://sëller.example.com/"},
        {"url": "https://seller.example.com/%zz"},
        {"url": "\ud800"},
        {"fields": [*signed_request().fields, ("host", "evil.example")]},
        {"fields": [*signed_request().fields, *[("host", "seller.example.com")] * 2]},
    ],
)
def test_impossible_target_or_authority_is_malformed(change):
    request = changed(signed_request(), **change)
    assert rejected(lambda: identified(request).prove([False])) == ("target_uri_malformed", 10)


def test_target_is_checked_before_the_signature():
    request = changed(with_field(signed_request(), "signature", "sig1=:AAAA:"), url="https://h/ ")
    assert rejected(lambda: identified(request).prove([False])) == ("target_uri_malformed", 10)


@pytest.mark.parametrize(
    "change",
    [
        {"method": "PUT"},
        {"method": "post"},
        {"method": "P\nOST"},
        {"url": URL + "?"},
        {"url": URL + "/"},
        {"url": URL.replace("https", "http")},
        {"url": URL.replace("seller", "buyer")},
        {"url": URL.replace(".com", ".com:8443")},
    ],
)
def test_signature_is_invalid_when_a_covered_component_was_changed(change):
    request = changed(signed_request(), **change)
    assert rejected(lambda: identified(request).prove([False])) == ("signature_invalid", 10)


@pytest.mark.parametrize("url", [f"{URL}#fragment", URL.replace("//", "//user:pw@"), URL.replace("adcp", "%61dcp")])
def test_signature_is_valid_when_the_canonical_form_is_the_same(url):
    assert identified(changed(signed_request(), url=url)).prove([False]).target.target_uri == URL


def test_signature_by_another_key_is_invalid():
    key = VerificationKey.from_jwk({**OTHER_PUBLIC, "kid": "buyer-ed25519"})
    assert rejected(lambda: identified(key=key).prove([False])) == ("signature_invalid", 10)


def test_signature_is_invalid_when_a_covered_field_is_absent():
    request = with_field(signed_request(), "content-type", None)
    assert rejected(lambda: identified(request).prove([False])) == ("signature_invalid", 10)


def test_invalid_signature_comes_with_the_base_as_evidence():
    with pytest.raises(SignatureError) as caught:
        identified(changed(signed_request(), method="PUT")).prove([False])
    assert caught.value.signature_base.startswith('"@method": PUT\n')


def test_lone_question_mark_is_tried_both_ways_when_the_server_hides_it():
    request = signed_request("GET", "https://h/p?", (), b"")
    seen = changed(request, url="https://h/p", query_unknown=True)
    assert proven(seen).target.target_uri == "https://h/p?"
    assert proven(changed(signed_request("GET", "https://h/p", (), b""), query_unknown=True)).target.query is None
    assert rejected(lambda: proven(changed(request, url="https://h/p"))) == ("signature_invalid", 10)
    assert rejected(lambda: proven(changed(seen, method="PUT"))) == ("signature_invalid", 10)


def test_lone_question_mark_is_tried_in_the_request_target_too():
    request = hostile_request(Request("GET", "https://h/p?"), covering(*BARE, "@request-target"))
    seen = changed(request, url="https://h/p", query_unknown=True)
    assert proven(seen).signature_base == proven(request).signature_base
    assert '"@request-target": /p?\n' in proven(seen).signature_base


def test_signature_base_over_the_length_limit_is_rejected():
    def proven_length(size: int) -> int:
        fields = [("x", "v" * size)]
        added = signer(components=["x"], check_limits=False).sign(Request("GET", URL, fields))
        return len(proven(Request("GET", URL, [*fields, *added])).signature_base)

    room = LONGEST_BASE - proven_length(0)
    assert proven_length(room) == LONGEST_BASE
    assert rejected(lambda: proven_length(room + 1)) == ("signature_invalid", 10)


# Step 11


def test_changed_content_is_a_digest_mismatch():
    assert rejected(lambda: bound(body=b"other")) == ("signature_digest_mismatch", 11)


def test_content_that_was_not_digested_is_a_digest_mismatch():
    assert rejected(lambda: proven().bind(None, now=NOW)) == ("signature_digest_mismatch", 11)


def test_digest_of_unknown_algorithms_is_a_digest_mismatch():
    fields = [JSON_FIELD, ("content-digest", "md5=:AAAA:")]
    request = hostile_request(Request("POST", URL, fields, BODY), covering(*FULL))
    assert rejected(lambda: bound(request)) == ("signature_digest_mismatch", 11)


def test_bind_needs_no_digest_when_none_is_covered():
    request = signed_request("GET", URL, (), b"")
    proof = proven(request)
    assert proof.running_digest() is None
    assert proof.running_digest() is None
    assert proof.bind(None, now=NOW)


@pytest.mark.parametrize("component", ['"content-digest";sf', '"content-digest";bs', '"content-digest";key="sha-256"'])
def test_content_is_bound_whatever_parameters_its_component_has(component):
    fields = [JSON_FIELD, ("content-digest", content_digest(BODY, "base64"))]
    claim = covering(*BARE, "content-type", component)
    request = hostile_request(Request("POST", URL, fields, BODY), claim, encoding="base64url")
    assert bound(request, profile=profiles.ADCP_3_1)
    assert rejected(lambda: bound(request, profile=profiles.ADCP_3_1, body=b"{}")) == ("signature_digest_mismatch", 11)


def test_signature_is_rejected_when_it_expired_while_the_content_was_read():
    proof = proven()
    digest = proof.running_digest()
    digest.update(BODY)
    assert proof.bind(digest, now=NOW + 360)
    assert rejected(lambda: proof.bind(digest, now=NOW + 361)) == ("signature_window_invalid", 5)
    assert rejected(lambda: proof.bind(None, now=NOW + 361)) == ("signature_window_invalid", 5)


# Steps 12 to 14


def test_fresh_claim_is_accepted_with_every_verified_value():
    verified = bound().accept("fresh", Content((BODY,)))
    assert (verified.keyid, verified.label, verified.tag) == ("buyer-ed25519", "sig1", "adcp/request-signing/v1")
    assert (verified.algorithm, verified.created, verified.expires) == ("ed25519", NOW, NOW + 300)
    assert verified.components == tuple(f'"{name}"' for name in FULL)
    assert (verified.method, verified.target_uri, verified.authority) == ("POST", URL, "seller.example.com")
    assert (
        verified.signature_base
        == signer().sign(Request("POST", URL, [JSON_FIELD], BODY), nonce=verified.nonce).signature_base
    )


def test_verified_content_is_read_as_json_once():
    verified = bound().accept("fresh", Content((BODY,)))
    assert verified.json() == {"plan_id": "plan_001"}
    assert verified.json() is verified.json()


def test_used_nonce_is_a_replay():
    assert rejected(lambda: bound().accept("seen", Content((b'{"a":1,"a":2}',)))) == ("signature_replayed", 12)


def test_full_store_is_rate_abuse():
    assert rejected(lambda: bound().accept("full", Content((b'{"a":1,"a":2}',)))) == ("signature_rate_abuse", 13)


@pytest.mark.parametrize("answer", [None, True, False, "", "FRESH", b"fresh", 1, object()])
def test_answer_that_is_not_a_claim_is_never_fresh(answer):
    assert rejected(lambda: bound().accept(answer, Content((BODY,)))) == ("signature_store_unavailable", 13)


@pytest.mark.parametrize(
    "content",
    [
        [b'{"a":1,"a":2}'],
        [b'{"a":1', b',"a":2}'],
        [b'[{"x":{"a":1,"a":2}}]'],
        [b'{"a":NaN}'],
        [b"[" * 100_000],
        [b"9" * 5000],
        ['{"a":1,"a":2}'.encode("utf-16")],
    ],
)
def test_ambiguous_json_is_malformed(content):
    body = b"".join(content)
    request = signed_request(body=body)
    assert rejected(lambda: bound(request, body=body).accept("fresh", Content(content))) == ("body_malformed", 14)


@pytest.mark.parametrize("body", [b"{", b"not json", b"\xff\xfe\xff", b'{"a":1}', b"[]"])
def test_content_that_is_not_json_is_accepted(body):
    request = signed_request(body=body)
    assert bound(request, body=body).accept("fresh", Content((body,)))


def test_content_of_another_type_is_not_read_as_json():
    body = b'{"a":1,"a":2}'
    request = signed_request(fields=[("content-type", "text/plain")], body=body)
    assert bound(request, body=body).accept("fresh", Content((body,)))


# What must not be seen


def test_detail_and_repr_contain_no_text_of_the_message():
    secret = "s3cr3t"
    headers = [("authorization", secret), ("content-type", f"text/{secret}")]
    url = f"https://h/{secret}?{secret}"
    proof = proven(signed_request("POST", url, headers, secret.encode()))
    digest = proof.running_digest()
    digest.update(secret.encode())
    bound_ = proof.bind(digest, now=NOW)
    verified = bound_.accept("fresh", Content())
    for shown in (proof, proof.candidate, bound_, verified, digest):
        assert secret not in f"{shown!r} {shown}"


@pytest.mark.parametrize(
    "change",
    [
        {"url": "https://h:s3cr3t/"},
        {"url": "https://s3cr3t%/"},
        {"url": "s3cr3t://h/"},
        {"url": "https://xn--s3cr3t-\u00fc/"},
        {"url": "https://h/%s3cr3t"},
        {"fields": [*signed_request().fields, ("host", "s3cr3t s3cr3t")]},
        {"fields": [*signed_request().fields, ("host", "s3cr3t")]},
        {"fields": [*signed_request().fields, ("host", "h:s3cr3t")]},
    ],
)
def test_detail_of_a_malformed_target_quotes_no_text(change):
    with pytest.raises(SignatureError) as caught:
        identified(changed(signed_request(), **change)).prove([False])
    assert caught.value.detail
    assert "s3cr3t" not in caught.value.detail + caught.value.explain()


def test_content_is_not_bound_when_the_profile_forbids_a_digest():
    profile = profiles.ADCP_3_1.derive(digest=replace(profiles.ADCP_3_1.digest, policy="forbidden"))
    added = signer(profile, key=KEY).sign(Request("POST", URL, [JSON_FIELD], BODY))
    request = Request("POST", URL, [JSON_FIELD, *added], BODY)
    assert proven(request, profile=profile).running_digest() is None

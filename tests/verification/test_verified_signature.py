from __future__ import annotations

import pytest
from tests.keys import (
    BARE,
    BODY,
    FULL,
    JSON_FIELD,
    KEY,
    NOW,
    URL,
    covering,
    digest_of,
    hostile_request,
    signed_request,
    signer,
)
from tests.verification.stages import complete_request, prove_request, rejection_of

from undersigned import Request, SignatureError, profiles
from undersigned.message import Content

AMBIGUOUS = Content((b'{"a":1,"a":2}',))

# Step 11


def test_body_that_arrives_empty_is_told_to_have_been_dropped_or_read_before():
    with pytest.raises(SignatureError, match="does not match the signed Content-Digest: it is empty") as caught:
        complete_request(body=b"")
    assert "layer outside the middleware that read it before" in caught.value.fix


def test_content_that_was_not_digested_is_a_digest_mismatch():
    assert rejection_of(lambda: complete_request(fed=False)) == ("signature_digest_mismatch", 11)


def test_digest_of_unknown_algorithms_is_a_digest_mismatch():
    fields = [JSON_FIELD, ("content-digest", "md5=:AAAA:")]
    request = hostile_request(Request("POST", URL, fields, BODY), covering(*FULL))
    assert rejection_of(lambda: complete_request(request)) == ("signature_digest_mismatch", 11)


def test_no_digest_is_needed_when_none_is_covered():
    request = signed_request("GET", URL, (), b"")
    proof = prove_request(request)
    assert proof.running_digest() is None
    assert complete_request(request, body=b"")


@pytest.mark.parametrize("component", ['"content-digest";sf', '"content-digest";bs', '"content-digest";key="sha-256"'])
def test_content_is_bound_whatever_parameters_its_component_has(component):
    fields = [JSON_FIELD, ("content-digest", digest_of(BODY))]
    claim = covering(*BARE, "content-type", component)
    request = hostile_request(Request("POST", URL, fields, BODY), claim, encoding="base64url")
    assert complete_request(request, profile=profiles.ADCP_3_1)
    assert rejection_of(lambda: complete_request(request, profile=profiles.ADCP_3_1, body=b"{}")) == (
        "signature_digest_mismatch",
        11,
    )


def test_signature_is_rejected_when_it_expired_while_the_content_was_read():
    assert complete_request(later=NOW + 360)
    assert rejection_of(lambda: complete_request(later=NOW + 361)) == ("signature_window_invalid", 5)
    assert rejection_of(lambda: complete_request(later=NOW + 361, fed=False)) == ("signature_window_invalid", 5)


# Steps 12 to 14


def test_fresh_claim_is_accepted_with_every_verified_value():
    verified = complete_request()
    assert (verified.keyid, verified.label, verified.tag) == ("buyer-ed25519", "sig1", "adcp/request-signing/v1")
    assert (verified.algorithm, verified.created, verified.expires) == ("ed25519", NOW, NOW + 300)
    assert verified.components == tuple(f'"{name}"' for name in FULL)
    assert (verified.method, verified.target_uri, verified.authority) == ("POST", URL, "seller.example.com")
    assert (
        verified.signature_base
        == signer().sign(Request("POST", URL, [JSON_FIELD], BODY), nonce=verified.nonce).signature_base
    )


@pytest.mark.parametrize(
    ("claim", "rejection"),
    [
        ("seen", ("signature_replayed", 12)),
        ("full", ("signature_rate_abuse", 13)),
        *((claim, ("signature_store_unavailable", 13)) for claim in (None, True, "", "FRESH", b"fresh", 1, object())),
    ],
)
def test_nothing_but_a_fresh_claim_is_accepted_and_the_content_is_read_after_it(claim, rejection):
    assert rejection_of(lambda: complete_request(claim=claim, content=AMBIGUOUS)) == rejection


def test_verified_content_is_read_as_json_once():
    verified = complete_request()
    assert verified.json() == {"plan_id": "plan_001"}
    assert verified.json() is verified.json()


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
        [b'{"x":01,"a":1,"a":2}'],
        [b"{"],
        [b"not json"],
        [b"\xff\xfe\xff"],
    ],
)
def test_json_that_the_strict_reader_does_not_take_is_malformed(content):
    body = b"".join(content)
    request = signed_request(body=body)
    rejected = rejection_of(lambda: complete_request(request, body=body, content=Content(content)))
    assert rejected == ("body_malformed", 14)


@pytest.mark.parametrize(
    "field",
    [("content-type", "application/json; charset=utf-7"), ("content-encoding", "gzip")],
    ids=lambda field: field[0],
)
def test_json_that_is_decoded_first_is_malformed(field):
    fields = [field] if field[0] == "content-type" else [JSON_FIELD, field]
    request = signed_request(fields=fields, body=b"{}")
    assert rejection_of(lambda: complete_request(request, body=b"{}")) == ("body_malformed", 14)


def test_content_of_another_type_is_not_read_as_json():
    body = b'{"a":1,"a":2}'
    request = signed_request(fields=[("content-type", "text/plain")], body=body)
    assert complete_request(request, body=body)


# What must not be seen


def test_detail_and_repr_contain_no_text_of_the_message():
    secret = "s3cr3t"
    headers = [("authorization", secret), ("content-type", f"text/{secret}")]
    url = f"https://h/{secret}?{secret}"
    request = signed_request("POST", url, headers, secret.encode())
    proof = prove_request(request)
    for shown in (proof, complete_request(request, body=secret.encode()), proof.running_digest()):
        assert secret not in f"{shown!r} {shown}"


def test_content_is_not_bound_when_the_profile_forbids_a_digest():
    profile = profiles.ADCP_3_1.derive(digest=profiles.ADCP_3_1.digest._replace(policy="forbidden"))
    added = signer(profile, key=KEY).sign(Request("POST", URL, [JSON_FIELD], BODY))
    request = Request("POST", URL, [JSON_FIELD, *added], BODY)
    assert prove_request(request, profile=profile).running_digest() is None

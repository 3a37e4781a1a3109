from __future__ import annotations

import pytest
from tests.keys import (
    BARE,
    EC_PUBLIC,
    NOW,
    OTHER_PUBLIC,
    PUBLIC,
    URL,
    covering,
    hostile_request,
    replace_parts,
    signed_request,
    with_field,
)
from tests.verification.stages import (
    VERIFYING,
    Answering,
    Lists,
    prove_request,
    rejection_of,
    screen_request,
    verifier_of,
)

from undersigned import Request, RevocationList, SignatureError, VerificationKey, profiles
from undersigned.signature.jwk import written_thumbprint

# Steps 7 to 9


@pytest.mark.parametrize("jwk", [{**PUBLIC, "key_ops": ["sign"]}, {**PUBLIC, "adcp_use": "x"}, EC_PUBLIC, {"kid": "k"}])
def test_key_with_another_use_has_the_wrong_purpose(jwk):
    key = VerificationKey.from_jwk(jwk)
    assert rejection_of(lambda: prove_request(key=key)) == ("signature_key_purpose_invalid", 8)


def revoking(*keyids: str, next_update: float = NOW + 600) -> RevocationList:
    return RevocationList(revoked=frozenset(keyids), updated=next_update - 900, next_update=next_update)


@pytest.mark.parametrize("named", ["own name", VERIFYING.thumbprint, "buyer-ed25519"])
def test_key_is_revoked_by_each_of_its_names(named):
    key = VerificationKey.from_jwk({**PUBLIC, "kid": "own name"})
    assert prove_request(key=key, revocations=revoking("stranger", ""))
    assert rejection_of(lambda: prove_request(key=key, revocations=revoking(named))) == ("signature_key_revoked", 9)


@pytest.mark.parametrize("spelling", [PUBLIC["x"], PUBLIC["x"] + "="])
def test_key_is_revoked_by_the_thumbprint_of_its_jwk_as_it_is_written(spelling):
    jwk = PUBLIC | {"x": spelling}
    key, names = VerificationKey.from_jwk(jwk), (VERIFYING.thumbprint, written_thumbprint(jwk))
    for named in names:
        assert rejection_of(lambda: prove_request(key=key, revocations=revoking(named)))[0] == "signature_key_revoked"  # noqa: B023 - called at once


def test_revocation_applies_even_on_a_stale_list():
    listed = revoking("buyer-ed25519", next_update=NOW - 100_000)
    assert rejection_of(lambda: prove_request(revocations=listed)) == ("signature_key_revoked", 9)


def test_stale_list_rejects_every_key():
    assert rejection_of(lambda: prove_request(revocations=revoking(next_update=NOW - 3601))) == (
        "signature_revocation_stale",
        9,
    )
    assert prove_request(revocations=revoking(next_update=NOW - 3600))


@pytest.mark.parametrize(
    ("lists", "error"),
    [
        ((revoking("buyer-ed25519"), revoking(next_update=NOW - 3601)), ("signature_key_revoked", 9)),
        ((revoking(next_update=NOW - 3601), revoking("buyer-ed25519")), ("signature_revocation_stale", 9)),
    ],
)
def test_error_is_the_one_of_the_first_key_if_no_key_is_left(lists, error):
    other = VerificationKey.from_jwk({**OTHER_PUBLIC, "kid": "buyer-ed25519"})
    verifier = verifier_of(other, other, revocations=Lists(*lists))
    assert rejection_of(lambda: verifier.verify(signed_request())) == error


def test_purpose_is_checked_before_the_revocation():
    key = VerificationKey.from_jwk({**PUBLIC, "use": "enc"})
    assert rejection_of(lambda: prove_request(key=key, revocations=revoking("buyer-ed25519")))[1] == 8


# Steps 9a and 10


def test_key_at_its_cap_is_rejected_before_its_signature_is_verified():
    request = replace_parts(signed_request(), url="https://h/%zz", method="get")
    assert rejection_of(lambda: prove_request(request, replay=Answering(full=True))) == ("signature_rate_abuse", "9a")


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
    request = replace_parts(signed_request(), **change)
    assert rejection_of(lambda: prove_request(request)) == ("target_uri_malformed", 10)


def test_target_is_checked_before_the_signature():
    request = replace_parts(with_field(signed_request(), "signature", "sig1=:AAAA:"), url="https://h/ ")
    assert rejection_of(lambda: prove_request(request)) == ("target_uri_malformed", 10)


@pytest.mark.parametrize("url", [f"{URL}#fragment", URL.replace("//", "//user:pw@"), URL.replace("adcp", "%61dcp")])
def test_signature_is_valid_when_the_canonical_form_is_the_same(url):
    assert prove_request(replace_parts(signed_request(), url=url)).target.target_uri == URL


def test_signature_is_invalid_when_a_covered_field_is_absent():
    request = with_field(signed_request(), "content-type", None)
    assert rejection_of(lambda: prove_request(request)) == ("signature_invalid", 10)


def test_lone_question_mark_is_tried_both_ways_when_the_server_hides_it():
    request = signed_request("GET", "https://h/p?", (), b"")
    seen = replace_parts(request, url="https://h/p", query_unknown=True)
    assert prove_request(seen).target.target_uri == "https://h/p?"
    assert (
        prove_request(replace_parts(signed_request("GET", "https://h/p", (), b""), query_unknown=True)).target.query
        is None
    )
    assert rejection_of(lambda: prove_request(replace_parts(request, url="https://h/p"))) == ("signature_invalid", 10)
    assert rejection_of(lambda: prove_request(replace_parts(seen, method="PUT"))) == ("signature_invalid", 10)


def test_lone_question_mark_is_tried_by_the_algorithm_of_the_key_without_alg():
    adcp = profiles.ADCP_3_2
    unnamed = adcp.derive(parameters=adcp.parameters._replace(alg="ignored"))
    seen = replace_parts(signed_request("GET", "https://h/p?", (), b""), url="https://h/p", query_unknown=True)
    assert screen_request(seen, unnamed).algorithm == ""
    assert prove_request(seen, profile=unnamed).target.target_uri == "https://h/p?"


def test_lone_question_mark_is_tried_in_the_request_target_too():
    request = hostile_request(Request("GET", "https://h/p?"), covering(*BARE, "@request-target"))
    seen = replace_parts(request, url="https://h/p", query_unknown=True)
    assert prove_request(seen).signature_base == prove_request(request).signature_base
    assert '"@request-target": /p?\n' in prove_request(seen).signature_base


def test_signature_base_over_the_length_limit_is_rejected():
    def proven_length(size: int) -> int:
        request = Request("GET", URL, [("x", "v" * size)])
        return len(prove_request(hostile_request(request, covering(*BARE, "x"))).signature_base)

    room = 65_536 - proven_length(0)
    assert proven_length(room) == 65_536
    with pytest.raises(SignatureError) as caught:
        proven_length(room + 1)
    assert (caught.value.reason, caught.value.step) == ("signature_header_malformed", 10)
    assert caught.value.detail == (
        "the signature base has 65,537 characters, and at most 65,536 are verified: cover fewer or shorter fields"
    )


def test_covered_text_over_a_bound_is_no_invalid_signature():
    written = [("Signature-Input", covering(*BARE, '"x";key="a"')), ("Signature", f"sig1=:{'A' * 86}==:")]
    request = Request("GET", URL, [("x", "a=" + "v" * 5000), *written])
    with pytest.raises(SignatureError) as caught:
        prove_request(request)
    assert (caught.value.reason, caught.value.step) == ("signature_header_malformed", 10)
    assert "have 5,002 characters, and at most 4,096 are read: cover whole fields" in caught.value.detail


# What must not be seen


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
        prove_request(replace_parts(signed_request(), **change))
    assert caught.value.detail
    assert "s3cr3t" not in caught.value.detail + caught.value.explain()

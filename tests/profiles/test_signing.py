"""Signing by each published profile: our verifier accepts what our signer makes, under this profile only."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.keys import PUBLIC, OneKey, key_pair, sign_unread, signing_key, verification_key

from undersigned import (
    KeySet,
    MalformedSignature,
    MemoryReplayStore,
    Request,
    Response,
    SignatureError,
    Signer,
    SigningError,
    Verifier,
)
from undersigned.message.content_digest import content_digest
from undersigned.profiles import ACTIVITYPUB, BY_NAME, FAPI_2_REQUEST, GNAP, UCP, WEB_BOT_AUTH_TYPED, WIMSE

NOW = 1_795_305_605
URL = "https://shop.example/%7echeckout/a%2fb?q=1"
FIELDS = [
    ("Content-Type", "application/json"),
    ("Authorization", "DPoP at-1"),
    ("Signature-Agent", 'sig1="https://bot.example/keys.json"'),
    ("UCP-Agent", 'profile="https://platform.example/.well-known/ucp"'),
    ("Idempotency-Key", "550e8400-e29b-41d4-a716-446655440000"),
    ("Workload-Identity-Token", "eyJ.e30.c2ln"),
]
POST = Request("POST", URL, FIELDS, b'{"line_items":[]}')
GET = Request("GET", URL, FIELDS[1:])
REQUESTS = [profile for profile in BY_NAME.values() if profile.message == "request"]
EVERY = pytest.mark.parametrize(
    ("profile", "algorithm"),
    [
        pytest.param(profile, algorithm, id=f"{profile.name}-{algorithm}")
        for profile in REQUESTS
        for algorithm in sorted(profile.algorithms)
    ],
)


def signer(profile, algorithm="ed25519") -> Signer:
    return Signer(signing_key(algorithm), profile=profile, clock=lambda: NOW)


def verifier(profile, algorithm="ed25519") -> Verifier:
    keys = OneKey(verification_key(algorithm))
    return Verifier(profile, keys=keys, replay=MemoryReplayStore(), clock=lambda: NOW)


def sign(profile, request=POST, algorithm="ed25519", **options) -> Request:
    fields = signer(profile, algorithm).sign(request, **options)
    return Request(request.method, request.url, [*request.fields, *fields], request.body)


@EVERY
def test_signed_request_is_verified_by_its_profile(profile, algorithm):
    for request in (POST, GET):
        if request is GET and profile.name == "adcp-webhook":
            continue
        verified = verifier(profile, algorithm).verify(sign(profile, request, algorithm))
        assert verified.algorithm == algorithm
        covered = '"content-digest"' in verified.components
        assert bytes(verified.content) == (request.body if covered else b"")


def outcomes(profile, message, verify) -> list[bool | None]:
    """Whether a message is new at once, after a minute, a day, two days, four and a year; None: it is rejected."""
    clock, store, new = [float(NOW)], MemoryReplayStore(), []
    algorithm = "ed25519" if "ed25519" in profile.algorithms else "rsa-v1_5-sha256"
    key = verification_key(algorithm).with_owner("acme")
    subject = Verifier(profile, keys=OneKey(key), replay=store, clock=lambda: clock[0])
    for later in (0, 60, 86_401, 174_000, 350_000, 366 * 86_400):
        clock[0] = NOW + later
        try:
            new.append(not verify(subject)(message).repeated)
        except SignatureError:
            new.append(None)
    return new


CONTENTS = {
    b'{"a": 1, "\\u0061": 2}': "duplicate keys: 'a'",
    b'{"a": [{"b": 1, "b": 2}]}': "duplicate keys: 'b'",
    b'{"a": NaN}': "NaN",
    b'{"a": -Infinity}': "NaN and Infinity",
    b"[" * 100_000 + b"]" * 100_000: "nested too deeply",
    b"[" + b"9" * 5000 + b"]": "a number too long",
    b"not JSON": "from offset 0",
    b'{"a": 1,}': "from offset",
    b'{"a": 1} {}': "from offset 9",
    b'{"a": "\xff"}': "from offset 7",
    b"\xef\xbb\xbf{}": "from offset 0",
    '{"a": 1}'.encode("utf-16"): "from offset 0",
    b'{"a": "\\ud800", "b": 1e999}': None,
}


@pytest.mark.parametrize("profile", BY_NAME.values(), ids=lambda profile: profile.name)
@pytest.mark.parametrize("body", CONTENTS, ids=lambda body: body[:20].decode("latin-1"))
def test_json_is_signed_only_if_its_verifier_takes_it(profile, body):
    algorithm = "ed25519" if "ed25519" in profile.algorithms else "rsa-v1_5-sha256"
    request, subject, signing = replace(POST, body=body), verifier(profile, algorithm), signer(profile, algorithm)
    if profile.message == "request":
        unread, sign, verify = sign_unread(signing, request), signing.sign, subject.verify
    else:
        request = Response(200, [FIELDS[0], FIELDS[-1]], body, request=POST)
        bare = replace(request, body=b"", has_body=True)
        unread = signing.sign_response(bare, digest=content_digest(body, "base64"))
        sign, verify = signing.sign_response, subject.verify_response
    try:
        verify(replace(request, fields=[*request.fields, *unread]))
    except MalformedSignature:
        with pytest.raises(SigningError, match=f"^content: .*{CONTENTS[body]}.*; receivers reject it"):
            sign(request)
    else:
        assert sign(request)


FAR = NOW + 370 * 86_400


@pytest.mark.parametrize("dates", [{}, {"expires": NOW + 200}, {"expires": FAR}], ids=str)
@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("profile", BY_NAME.values(), ids=lambda profile: profile.name)
def test_what_a_signer_signs_is_new_once_whenever_it_comes_again(profile, method, dates):
    algorithm = "ed25519" if "ed25519" in profile.algorithms else "rsa-v1_5-sha256"
    for fields in (FIELDS, [field for field in FIELDS if field[0] != "Idempotency-Key"]):
        request = replace(POST, fields=fields) if method == "POST" else Request("GET", URL, fields[1:])
        try:
            if profile.message == "request":
                message, verify = sign(profile, request, algorithm, **dates), lambda subject: subject.verify
            else:
                message = Response(200, [FIELDS[0], FIELDS[-1]], b"{}", request=request)
                added = signer(profile, algorithm).sign_response(message, **dates)
                message = replace(message, fields=[*message.fields, *added])
                verify = lambda subject: subject.verify_response  # noqa: E731
        except SigningError:
            continue
        first, *later = outcomes(profile, message, verify)
        remembers = profile.replay.remembers
        is_kept = remembers not in {"nothing", "field"} or "idempotency-key" in dict(message.fields) or method == "POST"
        assert first is True
        assert later[-1] is None or remembers == "nothing"
        assert remembers == "nothing" or not is_kept or True not in later


UNSUPPORTED = {
    "rsa": {"kty": "RSA", "n": key_pair("rsa-pss-sha512").public["keys"][0]["n"], "e": "AQAB"},
    "p521": {"kty": "EC", "crv": "P-521", "x": "AAAA", "y": "AAAA", "alg": "ES512"},
    "secp256k1": {"kty": "EC", "crv": "secp256k1", "x": "AAAA", "y": "AAAA"},
    "ml-dsa": {"kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA"},
    "malformed": {"kty": "OKP", "crv": "Ed25519", "x": "AAAA"},
}


@pytest.mark.parametrize("kid", UNSUPPORTED)
def test_ucp_says_which_key_it_has_no_algorithm_for(kid):
    keys = KeySet.from_jwks({"keys": [{**UNSUPPORTED[kid], "kid": kid}, PUBLIC]})
    message = sign(UCP)
    fields = [(name, re.sub('keyid="[^"]*"', f'keyid="{kid}"', value)) for name, value in message.fields]
    with pytest.raises(SignatureError) as caught:
        Verifier(UCP, keys=keys, replay=MemoryReplayStore(), clock=lambda: NOW).verify(replace(message, fields=fields))
    assert (caught.value.code, caught.value.step, caught.value.form.status) == ("algorithm_unsupported", 8, 400)


def test_signer_of_the_fediverse_names_the_hash_of_its_rsa_key():
    assert ';alg="rsa-v1_5-sha256"' in dict(sign(ACTIVITYPUB, GET, "rsa-v1_5-sha256").fields)["signature-input"]


def test_repeat_that_is_signed_two_days_later_is_never_new():
    clock, store = [float(NOW)], MemoryReplayStore()
    keys = OneKey(verification_key("ed25519").with_owner("acme"))
    subject = Verifier(UCP, keys=keys, replay=store, clock=lambda: clock[0])
    assert not subject.verify(sign(UCP)).repeated
    retry_at = NOW + 170_000
    fields = Signer(signing_key("ed25519"), profile=UCP, clock=lambda: retry_at).sign(POST)
    retry = Request(POST.method, POST.url, [*POST.fields, *fields], POST.body)
    for later in (0, 60_000, 172_000):
        clock[0] = retry_at + later
        assert subject.verify(retry).repeated
    clock[0] = retry_at + 180_000
    with pytest.raises(SignatureError, match="signature_invalid"):
        subject.verify(retry)


def test_ucp_request_without_a_date_is_new_again_when_it_is_forgotten():
    undated = UCP.derive(parameters=UCP.parameters._replace(created="ignored", expires="ignored", written=frozenset()))
    message = sign(undated)
    assert outcomes(UCP, message, lambda subject: subject.verify) == [True, False, False, False, False, True]
    dated = UCP.derive(parameters=UCP.parameters._replace(created="required"))
    assert outcomes(dated, message, lambda subject: subject.verify) == [None] * 6


@pytest.mark.parametrize("profile", [profile for profile in REQUESTS if profile.selection.tags], ids=lambda p: p.name)
def test_signature_with_the_tag_of_another_profile_is_rejected(profile):
    for other in REQUESTS:
        if not other.selection.tags or {*other.selection.tags} & {*profile.selection.tags}:
            continue
        if "ed25519" in other.algorithms:
            with pytest.raises(SignatureError):
                verifier(profile).verify(sign(other))


def test_typed_target_is_signed_as_it_is_on_the_wire():
    base = signer(GNAP).sign(POST).signature_base
    assert f'"@target-uri": {URL}\n' in base
    assert (
        '"@target-uri": https://shop.example/~checkout/a%2Fb?q=1\n'
        in signer(BY_NAME["adcp-3.2"]).sign(POST).signature_base
    )


@pytest.mark.parametrize("url", ["https://shop.example/é", "https://shop.example/a b", "https://shop.example/\x7f"])
def test_typed_target_with_an_unprintable_character_is_rejected(url):
    with pytest.raises(ValueError, match=r"percent-encode|reject"):
        signer(GNAP).sign(Request("GET", url))


def test_typed_target_has_the_ascii_form_of_its_host():
    request = Request("GET", "https://b\u00fccher.example:443?q")
    made = signer(GNAP).sign(request)
    assert '"@target-uri": https://xn--bcher-kva.example/?q\n' in made.signature_base


def test_signer_says_which_field_the_profile_asks_for():
    with pytest.raises(SigningError, match=r"web-bot-auth-typed requires signature-agent"):
        signer(WEB_BOT_AUTH_TYPED).sign(Request("GET", URL))


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"wimse-aud": 1}, "the wimse-aud parameter is not a string"),
        ({"wimse-aud": "a", "wimse-sign-response": "yes"}, "the wimse-sign-response parameter is not a boolean"),
        ({"wimse-aud": "a", "keyid": "k"}, "by their own arguments"),
    ],
)
def test_signer_checks_the_parameters_of_the_profile(parameters, fault):
    with pytest.raises(SigningError, match=f"^parameters: .*{fault}"):
        signer(WIMSE).sign(GET, parameters=parameters)


@pytest.mark.parametrize(
    ("audience", "accepted"),
    [
        (URL.partition("?")[0], True),
        ("https://shop.example/~checkout/a%2Fb", True),
        (URL, False),
        ("https://shop.example", False),
        ("https://other.example/%7echeckout/a%2fb", False),
    ],
)
def test_audience_is_the_target_uri_without_its_query(audience, accepted):
    request = sign(WIMSE, parameters={"wimse-aud": audience})
    if accepted:
        assert verifier(WIMSE).verify(request)
    else:
        with pytest.raises(SignatureError) as caught:
            verifier(WIMSE).verify(request)
        assert caught.value.reason == "signature_params_unexpected"
        assert caught.value.received == f"wimse-aud {audience!r}, the URL {URL.partition('?')[0]}"


@pytest.mark.parametrize("url", ["https://b\u00fccher.example:443", "HTTPS://User@shop.example/%7e?q#part"])
def test_audience_that_a_signer_writes_is_of_the_target_uri_that_it_signs(url):
    made = signer(WIMSE).sign(Request("GET", url, GET.fields))
    assert verifier(WIMSE).verify(Request("GET", made.target_uri, [*GET.fields, *made]))


def test_audience_of_a_target_without_canonical_form_is_compared_as_it_is():
    request = sign(WIMSE, parameters={"wimse-aud": "https://shop.example/"})
    with pytest.raises(SignatureError) as caught:
        verifier(WIMSE).verify(Request("GET", "https://shop.example/%", request.fields, request.body))
    assert caught.value.reason == "signature_params_unexpected"


def test_signer_covers_what_the_request_has():
    covered = signer(UCP).sign(POST).components
    assert covered == (
        "@method", "@authority", "@path", "content-digest", "content-type", "@query", "ucp-agent", "idempotency-key",
        "signature-agent",
    )  # fmt: skip
    plain = Request("GET", "https://shop.example/p")
    assert signer(UCP).sign(plain).components == ("@method", "@authority", "@path")


def test_signer_covers_the_member_of_its_own_label():
    request = Request("GET", URL, [("Signature-Agent", 'a="https://a.example", me="https://b.example"')])
    made = dict(signer(WEB_BOT_AUTH_TYPED).sign(request, label="me"))
    assert made["Signature-Input"].startswith('me=("@authority" "signature-agent";key="me");created=')


def test_nonce_of_any_text_is_escaped():
    made = sign(FAPI_2_REQUEST, nonce='a"b\\c')
    assert verifier(FAPI_2_REQUEST).verify(made).nonce == 'a"b\\c'
    with pytest.raises(SigningError, match=r"^nonce: must be printable ASCII"):
        sign(FAPI_2_REQUEST, nonce="é")


@pytest.mark.parametrize(
    ("profile", "algorithm", "fault"),
    [(ACTIVITYPUB, "rsa-v1_5-sha256", "takes only one"), (UCP, "ed25519", "a label is in Signature-Input and not in")],
)
def test_signature_is_not_made_beside_one_for_which_the_profile_rejects_both(profile, algorithm, fault):
    with pytest.raises(SigningError, match=f"^headers: Signature-Input or Signature cannot be read: .*{fault}"):
        signer(profile, algorithm).sign(Request("GET", URL, [("Signature-Input", "a=()")]))


def test_signature_without_expires_ends_by_the_profile():
    made = sign(ACTIVITYPUB, algorithm="rsa-v1_5-sha256")
    assert "expires" not in dict(made.fields)["signature-input"]

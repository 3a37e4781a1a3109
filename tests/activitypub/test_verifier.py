from __future__ import annotations

import asyncio
from email.utils import formatdate

import pytest
from tests.activitypub.actors import (
    ACTOR,
    CREATE,
    GET,
    KEYID,
    NOW,
    POST,
    pair,
    sha256,
    sign_by_draft,
    sign_by_hand,
    signature_field,
    signing_key,
    verification_key,
    verifier,
    with_fields,
)
from tests.keys import OneKey

from undersigned import (
    ConfigurationError,
    KeyPair,
    MemoryReplayStore,
    Request,
    SignatureError,
    Signer,
    VerificationKey,
    Verifier,
)
from undersigned.activitypub import ActivityPubVerifier, AsyncActivityPubVerifier
from undersigned.profiles import ACTIVITYPUB
from undersigned.signature.rules import ReplayRule

DATE = ("Date", formatdate(NOW, usegmt=True))
HOST = "inbox.example"
TARGET = {"(request-target)": "get /inbox?page=1", "host": HOST}
DATED = {**TARGET, "date": DATE[1]}


def reason(request, **options) -> str:
    with pytest.raises(SignatureError) as caught:
        verifier(**options).verify(request)
    return caught.value.reason


def with_date(request: Request = GET, *fields) -> Request:
    return with_fields(request, DATE, *fields)


@pytest.mark.parametrize("request_", [GET, POST], ids=["get", "post"])
def test_both_schemes_are_verified_by_what_was_sent(request_):
    draft = verifier().verify(sign_by_draft(request_))
    assert (draft.label, draft.keyid, draft.components[:2]) == ("", KEYID, ("(request-target)", "host"))
    assert (draft.created, draft.expires, draft.nonce) == (NOW, None, "")
    assert bytes(draft.content) == request_.body
    fields = Signer(signing_key(), profile=ACTIVITYPUB, clock=lambda: NOW).sign(request_)
    modern = verifier().verify(with_fields(request_, *fields))
    assert (modern.label, modern.components[0]) == ("sig1", '"@method"')


def test_signature_of_the_draft_is_none_under_a_profile_of_rfc_9421():
    strict = Verifier(
        ACTIVITYPUB, keys=OneKey(verification_key()), replay=MemoryReplayStore(), clock=lambda: float(NOW)
    )
    with pytest.raises(SignatureError) as caught:
        strict.verify(sign_by_draft(GET))
    assert caught.value.reason == "signature_required"
    assert "draft-cavage-http-signatures" in caught.value.detail


def test_unsigned_request_is_told_so():
    assert reason(GET) == "signature_required"
    input_alone = ("Signature-Input", 'sig1=("@method" "@target-uri");created=1;keyid="k"')
    for request in (GET, sign_by_draft(GET)):
        assert reason(with_fields(request, input_alone)) == "signature_header_malformed"


@pytest.mark.parametrize(("scheme", "lives"), [("draft", 300), ("rfc9421", 12 * 3600)])
def test_signature_lives_as_long_as_mastodon_lets_it_and_an_hour_of_skew(scheme, lives):
    ending = ACTIVITYPUB.derive(parameters=ACTIVITYPUB.parameters._replace(written=frozenset({"expires"})))
    fields = Signer(signing_key(), profile=ending, clock=lambda: NOW).sign(GET, expires=NOW + 13 * 3600)
    request = sign_by_draft(GET) if scheme == "draft" else with_fields(GET, *fields)
    for at in (NOW - 3600, NOW + lives + 3600):
        assert verifier(clock=lambda at=at: at).verify(request)
    for at in (NOW - 3601, NOW + lives + 3601):
        assert reason(request, clock=lambda at=at: at) == "signature_window_invalid"


def test_async_verifier_awaits_its_sources():
    class Awaited(OneKey):
        def find(self, lookup):
            async def find():
                return OneKey.find(self, lookup)

            return find()

    one = AsyncActivityPubVerifier(keys=Awaited(verification_key()), clock=lambda: NOW)
    assert asyncio.run(one.verify(sign_by_draft(POST))).keyid == KEYID
    with pytest.raises(ConfigurationError, match=r"^keys: "):
        ActivityPubVerifier(keys="keys")


@pytest.mark.parametrize("names", ["host", ["Host"], ["(other)"], [None]])
def test_required_names_are_checked(names):
    with pytest.raises(ConfigurationError, match=r"^required: list names in lower case"):
        verifier(required=names)


def test_created_in_place_of_date_needs_hs2019():
    lines = {**TARGET, "(created)": str(NOW), "(expires)": f"{NOW + 60}.5"}
    request = sign_by_hand(GET, lines, f",created={NOW},expires={NOW + 60}.5")
    verified = verifier().verify(request)
    assert (verified.created, verified.expires) == (NOW, NOW + 60)
    old = sign_by_hand(GET, lines, f",created={NOW},expires={NOW + 60}.5", algorithm="rsa-sha256")
    assert reason(old) == "signature_header_malformed"


def test_signed_expires_prolongs_a_signature_and_one_that_is_not_signed_never_does():
    later = NOW + 6 * 3600
    prolonged = {**TARGET, "(created)": str(NOW), "(expires)": str(later)}
    request = sign_by_hand(GET, prolonged, f",created={NOW},expires={later}")
    assert verifier(clock=lambda: later + 3600).verify(request)
    assert reason(request, clock=lambda: later + 3601) == "signature_window_invalid"
    loose = sign_by_hand(GET, {**TARGET, "(created)": str(NOW)}, f",created={NOW},expires={later}")
    assert verifier(clock=lambda: NOW + 300 + 3600).verify(loose).expires is None
    assert reason(loose, clock=lambda: NOW + 301 + 3600) == "signature_window_invalid"


@pytest.mark.parametrize("parameters", [f",expires={NOW - 3601}", f",created={NOW + 3601}"])
def test_parameter_that_is_not_signed_can_end_a_signature(parameters):
    request = sign_by_hand(with_date(), DATED, parameters)
    assert reason(request) == "signature_window_invalid"


def test_parameter_that_is_not_signed_does_not_end_what_is_remembered():
    remembering, clock = ACTIVITYPUB.derive(replay=ReplayRule(remembers="base")), iter([NOW, NOW, NOW + 120, NOW + 120])
    one = verifier(profile=remembering, replay=MemoryReplayStore(), clock=clock.__next__)
    assert one.verify(sign_by_hand(with_date(), DATED, f",expires={NOW - 3599}"))
    with pytest.raises(SignatureError) as caught:
        one.verify(sign_by_hand(with_date(), DATED))
    assert caught.value.reason == "signature_replayed"


def test_signature_is_remembered_no_longer_than_it_is_valid():
    remembering = ACTIVITYPUB.derive(replay=ReplayRule(remembers="base"))
    one = verifier(profile=remembering, replay=MemoryReplayStore())
    one.verify(sign_by_draft(GET))
    with pytest.raises(SignatureError) as caught:
        one.verify(sign_by_draft(GET))
    assert caught.value.reason == "signature_replayed"


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        ({"(request-target)": "get /inbox?page=1", "date": DATE[1]}, "host"),
        (TARGET, "date or (created)"),
        ({"host": HOST, "date": DATE[1]}, "(request-target) or digest"),
        ({"date": DATE[1]}, "host, (request-target) or digest"),
    ],
)
def test_get_must_cover_what_mastodon_asks_for(lines, missing):
    with pytest.raises(SignatureError) as caught:
        verifier().verify(sign_by_hand(with_date(), lines))
    assert caught.value.reason == "signature_components_incomplete"
    assert caught.value.detail == f"{missing} must be covered"


def test_post_and_content_must_cover_the_digest():
    empty = Request("POST", POST.url)
    lines = {"(request-target)": "post /inbox?page=1", "host": HOST, "date": DATE[1]}
    assert reason(sign_by_hand(with_date(empty), lines)) == "signature_components_incomplete"
    digest = ("Digest", sha256(b""))
    assert verifier().verify(sign_by_hand(with_date(empty, digest), {**lines, "digest": digest[1]}))
    query = Request("QUERY", POST.url, (), CREATE)
    lines["(request-target)"] = "query /inbox?page=1"
    assert reason(sign_by_hand(with_date(query), lines)) == "signature_components_incomplete"


def test_post_covers_what_the_operator_requires_too():
    digest = ("Digest", sha256(CREATE))
    request = sign_by_hand(with_date(POST, digest), {"date": DATE[1], "digest": digest[1]})
    assert verifier().verify(request).components == ("date", "digest")
    assert reason(request, required=("(request-target)", "host")) == "signature_components_incomplete"
    assert verifier(required=("(request-target)", "host")).verify(sign_by_draft(POST))


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ([], DATED),
        ([DATE], {**DATED, "digest": "md5=AA=="}),
        ([DATE, ("bad name", "x")], DATED),
    ],
)
def test_signed_field_that_cannot_be_read_is_malformed(fields, lines):
    assert reason(sign_by_hand(with_fields(GET, *fields), lines)) == "signature_header_malformed"


@pytest.mark.parametrize(
    ("fields", "lines"),
    [([DATE], {**DATED, "x-other": ""}), ([DATE, ("X-Other", "é")], {**DATED, "x-other": "?"})],
)
def test_signed_field_without_a_value_in_ascii_is_invalid(fields, lines):
    assert reason(sign_by_hand(with_fields(GET, *fields), lines)) == "signature_invalid"


def test_method_that_is_not_a_token_is_invalid():
    request = with_date(Request("GE T", GET.url))
    assert reason(sign_by_hand(request, {"(request-target)": "ge t /inbox?page=1", "date": DATE[1]})) == (
        "signature_invalid"
    )


def test_field_with_several_lines_is_signed_with_its_combined_value():
    request = with_date(GET, ("X-Two", "a"), ("X-Two", " b "), ("X-Empty", ""))
    assert verifier().verify(sign_by_hand(request, {**DATED, "x-two": "a, b", "x-empty": ""}))


@pytest.mark.parametrize("algorithm", ["hmac-sha256", "rsa-sha512", "RSA-SHA256", ""])
def test_other_algorithm_is_not_allowed(algorithm):
    assert reason(sign_by_hand(with_date(), DATED, algorithm=algorithm)) == "signature_alg_not_allowed"


def test_rsa_sha256_is_not_allowed_by_a_profile_without_it():
    modern = ACTIVITYPUB.derive(algorithms=frozenset({"ed25519"}))
    assert reason(sign_by_draft(GET), profile=modern) == "signature_alg_not_allowed"
    assert reason(sign_by_draft(GET, algorithm="hs2019"), profile=modern) == "signature_key_purpose_invalid"


def test_hs2019_has_the_algorithm_of_the_key():
    other = KeyPair.generate("ed25519", keyid=KEYID)
    [jwk] = other.public["keys"]
    base = "\n".join([f"{name}: {value}" for name, value in DATED.items()]).encode()
    made = signature_field("hs2019", DATED, other.signing_key().sign(base))
    request = with_date(GET, ("Signature", made))
    modern = ACTIVITYPUB.derive(algorithms=frozenset({"ed25519"}))
    keys = OneKey(VerificationKey.from_jwk(jwk))
    assert verifier(profile=modern, keys=keys).verify(request).algorithm == "ed25519"
    assert reason(request, keys=keys) == "signature_key_purpose_invalid"


def test_error_has_the_evidence_of_the_signature():
    keys = OneKey(VerificationKey.from_jwk(KeyPair.generate("rsa-v1_5-sha256", keyid=KEYID).public["keys"][0]))
    with pytest.raises(SignatureError) as caught:
        verifier(keys=keys).verify(sign_by_draft(GET))
    assert (caught.value.keyid, caught.value.created) == (KEYID, NOW)
    assert caught.value.signature_base.startswith("(request-target): get /inbox?page=1\nhost: inbox.example\n")
    assert pair().public["keys"][0]["kid"].startswith(ACTOR)


@pytest.mark.parametrize("scheme", ["draft", "rfc9421"])
def test_lone_question_mark_that_a_server_hides_is_verified_in_both_schemes(scheme):
    shown = Request("GET", f"https://{HOST}/inbox?", [("Host", HOST)])
    fields = Signer(signing_key(), profile=ACTIVITYPUB, clock=lambda: NOW).sign(shown)
    signed = sign_by_draft(shown) if scheme == "draft" else with_fields(shown, *fields)
    hidden = Request("GET", shown.url.removesuffix("?"), signed.fields, query_unknown=True)
    assert verifier().verify(hidden).target_uri == shown.url
    other = Request("GET", f"https://{HOST}/other", signed.fields, query_unknown=True)
    assert reason(other) == "signature_invalid"


@pytest.mark.parametrize("method", ["get", "Get", "post", "Head"])
def test_method_in_another_case_is_rejected_because_the_draft_does_not_sign_the_case(method):
    lines = {"(request-target)": f"{method.lower()} /inbox", "date": DATE[1]}
    request = sign_by_hand(with_date(Request(method, f"https://{HOST}/inbox", [("Host", HOST)])), lines)
    assert reason(request) == "signature_header_malformed"

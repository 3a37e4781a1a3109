"""Several signatures of one message, and what is remembered of each."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from itertools import permutations

import pytest
from tests.keys import OneKey, digest_of, key_pair, verification_key
from tests.verification.stages import verifier_of

from undersigned import KeySet, MemoryReplayStore, Profile, Request, SignatureError, Signer, SigningKey, Verifier
from undersigned.errors import AnswerForm
from undersigned.profiles import BY_NAME, GNAP
from undersigned.signature.rules import (
    Answers,
    CoverageRule,
    DigestRule,
    ParameterRule,
    ReplayRule,
    Selection,
    Validity,
)

NOW = 1_795_305_605
TAG = ("my-app",)
ANY = Profile(name="any", selection=Selection(tags=TAG, pick="any"))
ALL = ANY.derive(selection=Selection(tags=TAG, pick="all"))
EITHER = ALL.derive(digest=DigestRule(policy="either"), coverage=CoverageRule(always=("@authority",)))
ONLY = ANY.derive(selection=Selection(tags=TAG, pick="only"))
UNDATED = ParameterRule(created="ignored", expires="ignored", nonce="optional")
POST = Request("POST", "https://a.example/p", [("Content-Type", "text/plain")], b"hello")


def sign(request, *labels, algorithm="ed25519", profile: Profile = ANY, **options) -> Request:
    signer = Signer(key_pair(algorithm).signing_key(), profile=profile, clock=lambda: NOW, **options)
    for label in labels:
        request = replace(request, fields=[*request.fields, *signer.sign(request, label=label)])
    return request


def break_signature(request, label) -> Request:
    """Return the request with other bytes in the signature of `label`."""

    def other(value):
        return re.sub(f"^{label}=:.", f"{label}=:{'B' if value[len(label) + 2] == 'A' else 'A'}", value)

    fields = [(name, other(value) if name == "signature" else value) for name, value in request.fields]
    return replace(request, fields=fields)


def verifier(profile, algorithm="ed25519", **options) -> Verifier:
    keys = OneKey(verification_key(algorithm))
    return Verifier(profile, keys=keys, **{"replay": MemoryReplayStore(), "clock": lambda: NOW, **options})


def reason(profile, request) -> str:
    with pytest.raises(SignatureError) as caught:
        verifier(profile).verify(request)
    return caught.value.reason


def test_any_takes_the_first_signature_that_is_valid():
    request = sign(POST, "a", "b")
    assert verifier(ANY).verify(request).label == "a"
    assert verifier(ANY).verify(break_signature(request, "a")).label == "b"
    assert reason(ANY, break_signature(break_signature(request, "a"), "b")) == "signature_invalid"


def test_any_passes_over_a_signature_that_the_profile_rejects():
    request = sign(sign(POST, "a"), "b", profile=ANY.derive(coverage=CoverageRule(always=("@method",))))
    assert verifier(ANY).verify(request).label == "a"
    other = sign(sign(POST, "b", profile=ANY.derive(coverage=CoverageRule(always=("@method",)))), "a")
    assert verifier(ANY).verify(other).label == "a"


def test_any_passes_over_a_signature_with_a_parameter_of_another_type_and_all_does_not():
    request = sign(POST, "a", "b")
    fields = [(name, re.sub(r"^a=(.*);created=[0-9]+", r'a=\1;created="now"', value)) for name, value in request.fields]
    malformed = replace(request, fields=fields)
    assert verifier(ANY).verify(malformed).label == "b"
    assert reason(ALL, malformed) == "signature_header_malformed"


STRANGERS = Answers(unknown=frozenset({"signature_identity_missing", "signature_key_unknown"}))
WORSE = ("signature_key_unknown", "signature_window_invalid", "signature_invalid")


@pytest.mark.parametrize("pick", ["any", "all"])
@pytest.mark.parametrize("order", list(permutations(WORSE, 2)), ids="-".join)
def test_worst_of_several_errors_decides_in_any_order(order, pick):
    profile = ANY.derive(selection=Selection(tags=TAG, pick=pick), answers=STRANGERS)
    request = POST
    for label, fault in zip("ab", order, strict=True):
        key = SigningKey.from_jwk({**key_pair("ed25519").private, "kid": "stranger" if "unknown" in fault else "known"})
        clock = NOW - 10_000 if "window" in fault else NOW
        fields = Signer(key, profile=profile, clock=lambda clock=clock: clock).sign(request, label=label)
        request = replace(request, fields=[*request.fields, *fields])
        if fault == "signature_invalid":
            request = break_signature(request, label)
    keys = KeySet({"known": verification_key("ed25519")})
    with pytest.raises(SignatureError) as caught:
        Verifier(profile, keys=keys, replay=MemoryReplayStore(), clock=lambda: NOW).verify(request)
    assert caught.value.reason == max(order, key=WORSE.index)


def test_signature_of_another_profile_is_passed_over():
    request = sign(sign(POST, "other", profile=GNAP), "mine")
    assert verifier(ANY).verify(request).label == "mine"
    assert reason(ANY, sign(POST, "other", profile=GNAP)) == "signature_required"


REQUEST_PROFILES = [profile for profile in BY_NAME.values() if profile.message == "request"]
CAVAGE = 'keyId="k",algorithm="rsa-sha256",headers="(request-target) date",signature="AAAA"'


@pytest.mark.parametrize("value", [CAVAGE, f"Signature {CAVAGE}", CAVAGE.replace(",", " , "), 'keyId = "k",created=1'])
@pytest.mark.parametrize("place", [0, 99], ids=["before", "after"])
def test_signature_of_another_scheme_beside_ours_is_left_alone(value, place):
    request = sign(POST, "a")
    fields = [*request.fields]
    fields.insert(place, ("Signature", value))
    assert verifier(ANY).verify(replace(request, fields=fields)).label == "a"
    joined = dict(request.fields)["signature"]
    fields = [field for field in request.fields if field[0] != "signature"]
    one_line = f"{value}, {joined}" if place == 0 else f"{joined}, {value}"
    assert verifier(ANY).verify(replace(request, fields=[*fields, ("Signature", one_line)])).label == "a"
    exclusive = ANY.derive(selection=ANY.selection._replace(is_exclusive=True))
    assert (
        reason(exclusive, replace(request, fields=[*fields, ("Signature", one_line)])) == "signature_header_malformed"
    )


@pytest.mark.parametrize("value", [CAVAGE, "sha256=ab12", "t=1,v1=ab", "dGVzdA==", "label; sig=*AAAA*", '"x"', ""])
@pytest.mark.parametrize("profile", REQUEST_PROFILES, ids=lambda profile: profile.name)
def test_signature_of_another_scheme_alone_is_none_but_for_adcp(profile, value):
    request = replace(POST, fields=[*POST.fields, ("Signature", value)])
    with pytest.raises(SignatureError) as caught:
        verifier_of(profile=profile).screen(request)
    expected = "signature_header_malformed" if profile.name.startswith("adcp") else "signature_required"
    assert caught.value.reason == expected
    named = "" if not value else "draft-cavage" if value == CAVAGE else "Signature header is another scheme's"
    assert expected == "signature_header_malformed" or named in caught.value.detail


def test_label_alone_is_malformed_in_every_profile():
    request = replace(POST, fields=[*POST.fields, ("Signature", "sig1=:AAAA:")])
    assert reason(ANY, request) == "signature_header_malformed"


def test_all_demands_every_signature_and_returns_all():
    request = sign(POST, "a", "b")
    store = MemoryReplayStore()
    verified = verifier(ALL, replay=store).verify(request)
    assert [verified.label, *[other.label for other in verified.others]] == ["a", "b"]
    assert reason(ALL, break_signature(request, "b")) == "signature_invalid"
    with pytest.raises(SignatureError, match="signature_replayed"):
        verifier(ALL, replay=store).verify(request)


def covering(a: str, b: str) -> Request:
    """Return a request whose signatures `a` and `b` also cover these components."""
    digests = f"md5=:AAAA:, {digest_of(POST.body)}"
    request = replace(POST, fields=[*POST.fields, ("Content-Digest", digests)])
    for label, component in (("a", a), ("b", b)):
        covered = EITHER.derive(coverage=CoverageRule(always=("@authority", component)))
        request = sign(request, label, profile=covered)
    return request


@pytest.mark.parametrize(("a", "b"), [("content-digest", "@method"), ("@method", "content-digest")])
def test_content_of_a_signature_that_does_not_cover_it_is_empty(a, b):
    verified = verifier(EITHER).verify(covering(a, b))
    assert verified.label == ("a" if a == "content-digest" else "b")
    assert [bytes(one.content) for one in (verified, *verified.others)] == [b"hello", b""]


def test_all_demands_a_known_digest_of_each_signature_over_the_content():
    known, unknown = '"content-digest";key="sha-256"', '"content-digest";key="md5"'
    verified = verifier(EITHER).verify(covering("content-digest", known))
    assert [bytes(one.content) for one in (verified, *verified.others)] == [b"hello", b"hello"]
    for a, b in (("content-digest", unknown), (unknown, "content-digest"), (known, unknown), (unknown, unknown)):
        assert reason(EITHER, covering(a, b)) == "signature_digest_mismatch"


def test_all_rejects_a_message_with_one_signature_that_the_profile_does_not_accept():
    request = sign(sign(POST, "a"), "b", profile=ANY.derive(coverage=CoverageRule(always=("@method",))))
    assert reason(ALL, request) == "signature_components_incomplete"


def test_only_rejects_a_message_with_two_signatures():
    assert verifier(ONLY).verify(sign(POST, "a")).label == "a"
    assert reason(ONLY, sign(POST, "a", "b")) == "signature_header_malformed"


def test_message_with_three_signatures_of_the_profile_is_verified_and_one_with_four_is_not():
    for profile in (ANY, ALL):
        assert verifier(profile).verify(sign(POST, "a", "b", "c")).label == "a"
        assert reason(profile, sign(POST, "a", "b", "c", "d")) == "signature_header_malformed"


def test_added_signature_may_cover_the_one_that_is_there():
    gateway = ANY.derive(
        selection=Selection(tags=("gateway",), label="gw"),
        coverage=CoverageRule(always=('"signature";key="sig1"', '"signature-input";key="sig1"')),
    )
    request = sign(sign(POST, "sig1"), "gw", profile=gateway)
    assert verifier(ANY).verify(request).label == "sig1"
    assert verifier(gateway).verify(request).components[:2] == gateway.coverage.always
    assert reason(gateway, break_signature(request, "sig1")) == "signature_invalid"


@pytest.mark.parametrize("algorithm", ["ed25519", "ecdsa-p256-sha256"])
def test_base_is_remembered_when_there_is_no_nonce(algorithm):
    profile = ANY.derive(parameters=ParameterRule(nonce="optional"), replay=ReplayRule(remembers="base"))
    store = MemoryReplayStore()
    request = sign(POST, "a", algorithm=algorithm, profile=profile)
    assert verifier(profile, algorithm, replay=store).verify(request).nonce == ""
    again = sign(POST, "a", algorithm=algorithm, profile=profile)
    assert (dict(again.fields)["signature"] == dict(request.fields)["signature"]) == (algorithm == "ed25519")
    with pytest.raises(SignatureError, match="signature_replayed"):
        verifier(profile, algorithm, replay=store).verify(again)


def test_field_is_remembered_for_as_long_as_the_profile_says():
    profile = ANY.derive(
        parameters=UNDATED,
        coverage=CoverageRule(if_sent=("idempotency-key",)),
        replay=ReplayRule(remembers="field", field="idempotency-key", keeps_for=1000),
        dangerous="a test",
    )
    store = MemoryReplayStore()
    request = sign(replace(POST, fields=[*POST.fields, ("Idempotency-Key", "k1")]), "a", profile=profile)
    assert verifier(profile, replay=store).verify(request)
    for later, fresh in ((0, False), (990, False), (1930, True)):
        subject = verifier(profile, replay=store, clock=lambda later=later: NOW + later)
        if fresh:
            assert subject.verify(request)
        else:
            with pytest.raises(SignatureError, match="signature_replayed"):
                subject.verify(request)


REPEATED = ANY.derive(
    parameters=UNDATED,
    coverage=CoverageRule(if_sent=("idempotency-key",)),
    replay=ReplayRule(remembers="field", field="idempotency-key", accepts_repeats=True, keeps_for=1000),
    dangerous="a test",
)
KEYED = replace(POST, fields=[*POST.fields, ("Idempotency-Key", "k1")])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"body": b"{}"}, "signature_replayed"),
        ({"url": f"{POST.url}?other"}, "signature_replayed"),
        ({"url": f"{POST.url}/other"}, None),
        ({"method": "PUT"}, None),
        ({"body": b""}, "signature_replayed"),
        ({"fields": [*POST.fields, ("Idempotency-Key", "k2")], "body": b"{}"}, None),
        ({}, None),
    ],
)
def test_field_comes_again_only_with_the_same_request_of_one_operation(changes, code):
    store = MemoryReplayStore()
    subject = verifier(REPEATED, replay=store)
    assert not subject.verify(sign(KEYED, "a", profile=REPEATED)).repeated
    again = sign(replace(KEYED, **changes), "a", profile=REPEATED)
    for _ in range(2):
        if code:
            with pytest.raises(SignatureError, match=code):
                subject.verify(again)
        else:
            assert subject.verify(again).repeated == (not changes)
            break


@pytest.mark.parametrize(("later", "code"), [(1500, "signature_replayed"), (1930, None)])
def test_field_is_remembered_longer_than_its_signature_lasts(later, code):
    store = MemoryReplayStore()
    expiring = REPEATED.derive(parameters=ParameterRule(nonce="optional"))
    assert verifier(expiring, replay=store).verify(sign(KEYED, "a", profile=expiring)).expires < NOW + 500
    signer = Signer(key_pair("ed25519").signing_key(), profile=expiring, clock=lambda: NOW + later)
    other = replace(KEYED, body=b"{}")
    other = replace(other, fields=[*other.fields, *signer.sign(other)])
    with pytest.raises(SignatureError, match=code) if code else contextlib.nullcontext():
        verifier(expiring, replay=store, clock=lambda: NOW + later).verify(other)


@pytest.mark.parametrize(
    ("method", "fields", "repeated"),
    [("DELETE", True, True), ("GET", True, True), ("GET", False, False), ("POST", False, True)],
)
def test_request_comes_again_and_is_repeated_unless_it_is_safe_and_lacks_the_field(method, fields, repeated):
    subject = verifier(REPEATED, replay=MemoryReplayStore())
    request = Request(method, POST.url, [("Idempotency-Key", "k1")] * fields)
    signed = sign(request, "a", profile=REPEATED)
    assert [subject.verify(signed).repeated for _ in range(2)] == [False, repeated]


@pytest.mark.parametrize(
    ("owners", "repeated"), [(("acme", "acme"), True), (("acme", "other"), False), (("", ""), False)]
)
def test_field_belongs_to_the_signer_and_not_to_the_key(owners, repeated):
    store = MemoryReplayStore()
    verified = []
    for algorithm, owner in zip(("ed25519", "ecdsa-p256-sha256"), owners, strict=True):
        keys = OneKey(verification_key(algorithm).with_owner(owner))
        subject = Verifier(REPEATED, keys=keys, replay=store, clock=lambda: NOW)
        verified.append(subject.verify(sign(KEYED, "a", algorithm=algorithm, profile=REPEATED)).repeated)
    assert verified == [False, repeated]


def test_field_is_remembered_at_least_until_the_signature_ends():
    profile = ANY.derive(
        parameters=ParameterRule(nonce="optional"),
        validity=Validity(longest=5000, signed_for=5000),
        replay=ReplayRule(remembers="base", keeps_for=10),
    )
    store = MemoryReplayStore()
    request = sign(POST, "a", profile=profile)
    assert verifier(profile, replay=store).verify(request)
    with pytest.raises(SignatureError, match="signature_replayed"):
        verifier(profile, replay=store, clock=lambda: NOW + 4990).verify(request)


def test_digest_must_be_covered_also_if_the_coverage_depends_on_the_message():
    profile = ANY.derive(coverage=CoverageRule(if_sent=("date",)))
    uncovered = profile.derive(digest=profile.digest._replace(policy="either"))
    assert reason(profile, sign(POST, "a", profile=uncovered)) == "signature_components_incomplete"


def test_digest_by_an_algorithm_that_the_profile_does_not_take_counts_as_none():
    profile = ANY.derive(digest=ANY.digest._replace(algorithms=("sha-256",)))
    other = ANY.derive(digest=ANY.digest._replace(algorithms=("sha-512",)))
    assert reason(profile, sign(POST, "a", profile=other)) == "signature_digest_mismatch"
    both = f"{digest_of(POST.body, 'sha-512')}, {digest_of(POST.body)}"
    assert verifier(profile).verify(sign(replace(POST, fields=[*POST.fields, ("Content-Digest", both)]), "a"))


def test_answer_with_a_status_of_its_own_still_has_the_challenge():
    profile = ANY.derive(answers=Answers(statuses={"signature_invalid": 403}))
    form = profile.error("signature_invalid", step=10, detail="").form
    assert form == AnswerForm(
        403, (("error", "signature_invalid"),), (("WWW-Authenticate", 'Signature error="signature_invalid"'),)
    )
    assert profile.error("signature_store_unavailable", step=12, detail="").form.fields == ()


def test_only_adcp_prefers_a_signature_to_others_of_its_tag():
    preferring = {name for name, profile in BY_NAME.items() if profile.selection.pick == "preferred"}
    assert preferring == {"adcp-3.1", "adcp-3.2", "adcp-webhook"}

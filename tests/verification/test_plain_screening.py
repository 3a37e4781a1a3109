"""A plain message is screened at one look as it is screened step by step, and no other message is taken for one."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.keys import BARE, BODY, FULL, JSON_FIELD, NOW, URL, covering, signed_request, unsigned_claim, with_field

from undersigned import SignatureError, profiles
from undersigned.profiles import BY_NAME
from undersigned.verification.plain_screening import plain_candidate
from undersigned.verification.screening import screen, screen_any

PROFILES = [*BY_NAME.values(), dataclasses.replace(profiles.ADCP_3_1, digest="forbidden")]
SIGNATURE = f"sig1=:{'A' * 86}==:"
DIGEST = ("Content-Digest", f"sha-256=:{'A' * 43}=:")


def judged(request, profile, now):
    """The candidate step by step, or None where it is refused."""
    try:
        return screen_any(request, profile, now=now)
    except SignatureError:
        return None


def hold(request, profile=profiles.ADCP_3_2, now=NOW):
    """Hold the one look to the steps, and return what it gave."""
    plain = plain_candidate(request, profile, now=now)
    assert plain is None or plain == judged(request, profile, now)
    return plain


@pytest.mark.parametrize("profile", PROFILES[:3], ids=lambda profile: profile.name)
def test_what_a_signer_of_each_profile_sends_is_plain(profile):
    request = signed_request(profile=profile)
    assert hold(request, profile) == screen(request, profile, now=NOW)
    assert hold(request, profile) is not None


def test_a_request_without_content_is_plain():
    assert hold(signed_request("GET", fields=(), body=b"")) is not None


@pytest.mark.parametrize("seconds", [-61, -60.5, -60, 0, 300, 359.5, 360, 360.5, 361])
def test_the_window_is_that_of_the_steps(seconds):
    request, now = signed_request(), NOW + seconds
    assert (hold(request, now=now) is None) == (judged(request, profiles.ADCP_3_2, now) is None)


@pytest.mark.parametrize(
    "changes",
    [
        {"created": NOW, "expires": NOW},
        {"created": NOW, "expires": NOW - 1},
        {"created": NOW, "expires": NOW + 301},
        {"created": NOW + 61, "expires": NOW + 70},
        {"tag": '"other"'},
        {"alg": '"rsa-v1_5-sha256"'},
        {"nonce": '"c2hvcnQ"'},
        {"nonce": '"KXYnfEfJ0PBRZXQyVXfVQ"'},
        {"nonce": '"KXYnfEfJ0PBRZXQyVXfVQA="'},
        {"nonce": None},
        {"keyid": r'"a\\"b"'},
        {"keyid": f'"{"k" * 500}"'},
        {"keyid": "token"},
        {"created": f'"{NOW}"'},
    ],
)
def test_what_the_steps_look_at_twice_is_not_plain(changes):
    assert hold(unsigned_claim(covering(*BARE, **changes), SIGNATURE)) is None


@pytest.mark.parametrize(
    ("components", "fields"),
    [
        (BARE, [JSON_FIELD]),
        (FULL, [JSON_FIELD]),
        (FULL, [DIGEST]),
        (FULL, [JSON_FIELD, DIGEST, DIGEST]),
        (FULL, [JSON_FIELD, JSON_FIELD, DIGEST]),
        (FULL, [("Content-Type", "a/b, c/d"), DIGEST]),
        (FULL, [("Content-Type", 'a/b;c="d"'), DIGEST]),
        (FULL, [JSON_FIELD, ("Content-Digest", "md5=:AAAA:")]),
        (FULL, [JSON_FIELD, ("Content-Digest", "sha-256=:A:")]),
        (FULL, [JSON_FIELD, ("Content-Digest", f"sha-256=:{'A' * 600}:")]),
        (FULL, [JSON_FIELD, DIGEST, ("X", "a\nb")]),
        (FULL, [JSON_FIELD, DIGEST, ("x y", "v")]),
        ((*FULL, "@signature-params"), [JSON_FIELD, DIGEST]),
        ((*FULL, "@method"), [JSON_FIELD, DIGEST]),
    ],
)
def test_fields_that_the_steps_look_at_twice_are_not_plain(components, fields):
    request = unsigned_claim(covering(*components), SIGNATURE, method="POST", fields=fields, body=BODY)
    assert hold(request) is None


def test_a_digest_that_must_not_be_covered_is_not_plain():
    bare = dataclasses.replace(PROFILES[3], encoding="base64")
    covered = unsigned_claim(covering(*FULL), SIGNATURE, method="POST", fields=[JSON_FIELD, DIGEST], body=BODY)
    assert hold(covered, dataclasses.replace(bare, digest="either")) is not None
    assert hold(covered, bare) is None


@pytest.mark.parametrize("name", ["signature", "signature-input"])
@pytest.mark.parametrize("value", [None, "", "sig1=:AAAA", "sig2=:AAAA:", "sig1=()", "sig1=:A:", "x" * 600])
def test_half_a_signature_is_not_plain(name, value):
    assert hold(with_field(signed_request(), name, value)) is None


def test_two_lines_of_a_signature_field_are_not_plain():
    request = signed_request()
    again = dataclasses.replace(request, fields=[*request.fields, ("Signature", "sig2=:AAAA:")])
    assert hold(again) is None


@given(
    st.sampled_from(["signature", "signature-input", "content-type", "content-digest"]),
    st.sampled_from(PROFILES),
    st.sampled_from(PROFILES[:3]),
    st.integers(0, 400),
    st.integers(0, 3),
    st.text(st.sampled_from('"\\ ;=(),:0aA-_+/é@*'), max_size=3),
)
def test_no_change_of_a_plain_message_is_judged_otherwise(name, profile, signed_by, at, dropped, put):
    request = signed_request(profile=signed_by)
    value = request.fields.combined(name) or ""
    hold(with_field(request, name, value[:at] + put + value[at + dropped :]), profile)


@given(st.integers(NOW - 500, NOW + 500), st.integers(-10, 400), st.floats(NOW - 500, NOW + 500))
def test_no_window_is_judged_otherwise(created, lasting, now):
    request = unsigned_claim(covering(*BARE, created=created, expires=created + lasting), SIGNATURE)
    assert (hold(request, now=now) is None) == (judged(request, profiles.ADCP_3_2, now) is None)


def test_the_url_decides_nothing_here():
    assert hold(signed_request(url=URL.replace("https", "http"))) is not None


@pytest.mark.parametrize("keyid", ["https://b.example/" + "%E4" * 60, "a:b:c;d,e " * 20, ":" * 200])
def test_a_short_plain_message_is_plain_whatever_its_strings_hold(keyid):
    in_order = unsigned_claim(covering(*BARE, keyid=f'"{keyid}"'))
    assert hold(in_order).keyid == keyid
    input_value = in_order.fields.combined("signature-input").replace(f';keyid="{keyid}"', "") + f';keyid="{keyid}"'
    assert screen(with_field(in_order, "signature-input", input_value), profiles.ADCP_3_2, now=NOW).keyid == keyid

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from undersigned import ConfigurationError, profiles
from undersigned.signature.profile import Caps

BARE = ("@method", "@target-uri", "@authority")
ALL = (*BARE, "content-type", "content-digest")


def test_published_profiles_have_the_published_values():
    v32, v31, webhook = profiles.ADCP_3_2, profiles.ADCP_3_1, profiles.ADCP_WEBHOOK
    assert (v32.tag, v31.tag, webhook.tag) == (
        "adcp/request-signing/v1",
        "adcp/request-signing/v1",
        "adcp/webhook-signing/v1",
    )
    assert (v32.encoding, v31.encoding, webhook.encoding) == ("base64", "base64url", "base64url")
    assert (v32.caps, v31.caps, webhook.caps) == (Caps(1_000_000), Caps(1_000_000), Caps(100_000, 10_000_000))
    assert (v32.prefix, v31.prefix, webhook.prefix) == ("request_", "request_", "webhook_")
    assert v32.purposes == v31.purposes == {"request-signing"}
    assert webhook.purposes == {"request-signing", "webhook-signing"}
    for profile in (v32, v31, webhook):
        assert profile.algorithms == {"ed25519", "ecdsa-p256-sha256"}
        assert (profile.longest_validity, profile.clock_skew, profile.nonce_bytes) == (300, 60, 16)
        assert profiles.BY_NAME[profile.name] is profile


@pytest.mark.parametrize(
    ("profile", "bodiless", "with_body"),
    [
        (profiles.ADCP_3_2, BARE, ALL),
        (profiles.ADCP_3_1, BARE, ALL[:-1]),
        (replace(profiles.ADCP_3_1, digest="required"), BARE, ALL),
        (replace(profiles.ADCP_3_1, digest="forbidden"), BARE, ALL[:-1]),
        (profiles.ADCP_WEBHOOK, ALL, ALL),
    ],
)
def test_required_components_depend_on_content_and_digest_policy(profile, bodiless, with_body):
    assert profile.required_components[False] == bodiless
    assert profile.required_components[True] == with_body


def test_profile_cannot_be_changed_in_place():
    with pytest.raises(FrozenInstanceError):
        profiles.ADCP_3_2.clock_skew = 600


@pytest.mark.parametrize(
    ("change", "option"),
    [
        ({"digest": "sometimes"}, "digest"),
        ({"digest": None}, "digest"),
        ({"digest": "forbidden", "required": ALL}, "digest"),
        ({"digest": "forbidden", "required_with_body": ("content-digest",)}, "digest"),
        ({"encoding": "base32"}, "encoding"),
        ({"encoding": None}, "encoding"),
        ({"digest_encodings": ()}, "digest_encodings"),
        ({"digest_encodings": ("base32",)}, "digest_encodings"),
        ({"digest_encodings": "base64"}, "digest_encodings"),
        ({"label": "Sig 1"}, "label"),
        ({"label": ""}, "label"),
        ({"tag": "é"}, "tag"),
        ({"tag": "a\n"}, "tag"),
        ({"algorithms": frozenset({"rsa-pss-sha256"})}, "algorithms"),
        ({"algorithms": frozenset()}, "algorithms"),
        ({"longest_validity": 0}, "longest_validity"),
        ({"longest_validity": float("nan")}, "longest_validity"),
        ({"clock_skew": -1}, "clock_skew"),
        ({"clock_skew": float("nan")}, "clock_skew"),
        ({"longest_validity": True}, "longest_validity"),
        ({"nonce_bytes": "16"}, "nonce_bytes"),
        ({"nonce_bytes": -1}, "nonce_bytes"),
        ({"required": "@method"}, "required"),
        ({"required": ("@method", 1)}, "required"),
        ({"required_with_body": ("Content-Type",)}, "required_with_body"),
        ({"purposes": None}, "purposes"),
        ({"caps": None}, "caps"),
        ({"prefix": None}, "prefix"),
        ({"prefix": "a\r\nb"}, "prefix"),
        ({"algorithms": ("ed25519",)}, "algorithms"),
        ({"algorithms": "ed25519"}, "algorithms"),
        ({"encoding": ["base64"]}, "encoding"),
        ({"digest": ["required"]}, "digest"),
        ({"digest_encodings": ["base64"]}, "digest_encodings"),
        ({"label": None}, "label"),
        ({"tag": b"t"}, "tag"),
        ({"name": None}, "name"),
        ({"required": ("@status",)}, "required"),
        ({"required": ("@query-param",)}, "required"),
    ],
)
def test_profile_is_rejected_when_no_message_could_satisfy_it(change, option):
    with pytest.raises(ConfigurationError, match=f"^{option}: "):
        replace(profiles.ADCP_3_2, **change)


def test_profile_error_carries_the_profile_prefix():
    error = profiles.ADCP_WEBHOOK.error("signature_invalid", step=10, detail="detail")
    assert (error.code, error.step, error.detail) == ("webhook_signature_invalid", 10, "detail")

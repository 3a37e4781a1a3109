from __future__ import annotations

import re
from dataclasses import FrozenInstanceError

import pytest

from undersigned import ConfigurationError, Request, SignatureError, profiles
from undersigned.signature.rules import (
    Caps,
    CoverageRule,
    DigestRule,
    KeyRule,
    ParameterRule,
    ReplayRule,
    Selection,
    Validity,
)

BARE = ("@method", "@target-uri", "@authority")
ALL = (*BARE, "content-type", "content-digest")
NO_TIME = ParameterRule(created="ignored", expires="ignored", tag="optional")
AT_WILL = NO_TIME._replace(created="optional", written=frozenset({"created"}))
KEPT = ReplayRule(remembers="field", field="date", keeps_for=60)


def with_digest(policy):
    return profiles.ADCP_3_1.derive(digest=profiles.ADCP_3_1.digest._replace(policy=policy))


def test_published_profiles_have_the_published_values():
    v32, v31, webhook = profiles.ADCP_3_2, profiles.ADCP_3_1, profiles.ADCP_WEBHOOK
    assert [profile.selection.tags for profile in (v32, v31, webhook)] == [
        ("adcp/request-signing/v1",),
        ("adcp/request-signing/v1",),
        ("adcp/webhook-signing/v1",),
    ]
    assert (v32.encoding, v31.encoding, webhook.encoding) == ("base64", "base64url", "base64url")
    caps = [profile.replay.caps for profile in (v32, v31, webhook)]
    assert caps == [Caps(1_000_000), Caps(1_000_000), Caps(100_000, 10_000_000)]
    assert [profile.answers.prefix for profile in (v32, v31, webhook)] == ["request_", "request_", "webhook_"]
    assert v32.key.purposes == v31.key.purposes == {"request-signing"}
    assert webhook.key.purposes == {"request-signing", "webhook-signing"}
    for profile in (v32, v31, webhook):
        assert profile.algorithms == {"ed25519", "ecdsa-p256-sha256"}
        assert profile.validity == Validity(longest=300, ahead=60, behind=60)
        assert profile.parameters == ParameterRule(nonce_bytes=16)
        assert profiles.BY_NAME[profile.name] is profile


@pytest.mark.parametrize(
    ("profile", "bodiless", "with_body"),
    [
        (profiles.ADCP_3_2, BARE, ALL),
        (profiles.ADCP_3_1, BARE, ALL[:-1]),
        (with_digest("required"), BARE, ALL),
        (with_digest("forbidden"), BARE, ALL[:-1]),
        (profiles.ADCP_WEBHOOK, ALL, ALL),
    ],
)
def test_required_components_depend_on_content_and_digest_policy(profile, bodiless, with_body):
    assert profile.required_components[False] == bodiless
    assert profile.required_components[True] == with_body


def test_profile_cannot_be_changed_in_place():
    with pytest.raises(FrozenInstanceError):
        profiles.ADCP_3_2.validity = Validity(ahead=600)
    with pytest.raises(AttributeError):
        profiles.ADCP_3_2.validity.ahead = 600


def test_derived_profile_differs_in_what_was_asked_for_only():
    derived = profiles.ADCP_3_2.derive(name="mine", validity=Validity(longest=600))
    assert derived.validity.longest == 600
    assert derived.derive(name="adcp-3.2", validity=profiles.ADCP_3_2.validity) == profiles.ADCP_3_2


@pytest.mark.parametrize(
    ("change", "option"),
    [
        ({"digest": DigestRule(policy="forbidden"), "coverage": CoverageRule(always=ALL)}, "digest"),
        (
            {"digest": DigestRule(policy="forbidden"), "coverage": CoverageRule(with_content=("content-digest",))},
            "digest",
        ),
        ({"encoding": "base32"}, "encoding"),
        ({"encoding": None}, "encoding"),
        ({"encoding": ["base64"]}, "encoding"),
        ({"target": "raw"}, "target"),
        ({"replay": ReplayRule(remembers="field", field="idempotency-key")}, "replay.field"),
        (
            {
                "coverage": CoverageRule(with_content=("idempotency-key",)),
                "replay": ReplayRule(remembers="field", field="idempotency-key"),
            },
            "replay.field",
        ),
        ({"message": "both"}, "message"),
        ({"coverage": CoverageRule(always=("@status",))}, "coverage"),
        ({"coverage": CoverageRule(always=('"@method";req',))}, "coverage"),
        ({"coverage": CoverageRule(if_asked=("signature",))}, "coverage"),
        ({"algorithms": frozenset({"rsa"})}, "algorithms"),
        ({"algorithms": frozenset()}, "algorithms"),
        ({"parameters": ParameterRule(tag="forbidden")}, "selection.tags"),
        ({"selection": Selection()}, "selection.tags"),
        ({"coverage": CoverageRule(always=())}, "dangerous"),
        ({"parameters": NO_TIME, "replay": ReplayRule(remembers="nothing")}, "dangerous"),
        ({"parameters": NO_TIME}, "replay.keeps_for"),
        ({"parameters": NO_TIME, "coverage": CoverageRule(if_sent=("date",)), "replay": KEPT}, "dangerous"),
        ({"parameters": NO_TIME, "replay": ReplayRule(keeps_for=60)}, "dangerous"),
        ({"parameters": ParameterRule(expires="optional")}, "validity.longest_age"),
        ({"parameters": AT_WILL, "replay": ReplayRule(keeps_for=60), "dangerous": "a test"}, "validity.longest_age"),
        (
            {"parameters": AT_WILL._replace(written=frozenset()), "validity": Validity(longest_age=60)},
            "parameters.written",
        ),
    ],
)
def test_profile_is_rejected_when_it_contradicts_itself_or_protects_nothing(change, option):
    with pytest.raises(ConfigurationError, match=f"^{option}: "):
        profiles.ADCP_3_2.derive(**change)


@pytest.mark.parametrize(
    "change",
    [
        {"coverage": CoverageRule(always=()), "dangerous": "only the time is signed"},
        {"parameters": NO_TIME, "replay": ReplayRule(remembers="nothing"), "dangerous": "the application remembers"},
        {"parameters": NO_TIME, "replay": ReplayRule(keeps_for=60), "dangerous": "the application remembers"},
        {
            "parameters": AT_WILL,
            "validity": Validity(longest_age=60),
            "replay": ReplayRule(keeps_for=60),
            "dangerous": "the application asks for the date",
        },
        {"parameters": ParameterRule(expires="optional"), "validity": Validity(default=60)},
        {"parameters": ParameterRule(expires="optional"), "validity": Validity(longest_age=60)},
        {"replay": ReplayRule(remembers="nothing")},
    ],
)
def test_profile_that_says_why_it_is_dangerous_or_is_not_is_accepted(change):
    assert profiles.ADCP_3_2.derive(**change).derive() == profiles.ADCP_3_2.derive(**change)


def test_profile_error_carries_the_code_and_the_reason():
    error = profiles.ADCP_WEBHOOK.error("signature_invalid", step=10, detail="detail")
    assert (error.code, error.step, error.detail) == ("webhook_signature_invalid", 10, "detail")
    assert error.reason == "signature_invalid"
    assert SignatureError("code").reason is None


def test_profile_asks_for_what_a_signature_of_this_message_must_have():
    parameters = ';created;expires;nonce="";tag="adcp/request-signing/v1"'

    def wanted(message: Request | None = None) -> str:
        return re.sub('nonce="[A-Za-z0-9_-]{22}"', 'nonce=""', profiles.ADCP_3_2.wanted(message))

    assert wanted() == f'sig1=("@method" "@target-uri" "@authority"){parameters}'
    post = Request("POST", "https://seller.example.com/", [], b"{}")
    covered = '"@method" "@target-uri" "@authority" "content-type" "content-digest"'
    assert wanted(post) == f"sig1=({covered}){parameters}"
    asked = Request("GET", "https://shop.example/?q", [("UCP-Agent", "x")])
    assert profiles.UCP.wanted(asked).startswith('sig1=("@method" "@authority" "@path" "@query" "ucp-agent")')
    assert '"signature-agent";key="sig1"' in profiles.WEB_BOT_AUTH_TYPED.wanted()
    quoted = profiles.ADCP_3_2.derive(selection=Selection(tags=('a"b\\c',)))
    assert quoted.wanted().endswith(r';tag="a\"b\\c"')


def test_answer_asks_for_a_signature_only_if_another_one_could_be_accepted():
    asking = profiles.ADCP_3_2.error("signature_components_incomplete", step=6, detail="").form
    challenge, (name, asked) = asking.fields
    assert challenge == ("WWW-Authenticate", 'Signature error="request_signature_components_incomplete"')
    assert (name, asked.partition(";nonce=")[0]) == (
        "Accept-Signature",
        profiles.ADCP_3_2.wanted().partition(";nonce=")[0],
    )
    assert (asking.status, asking.members) == (401, (("error", "request_signature_components_incomplete"),))
    replayed = profiles.ADCP_3_2.error("signature_replayed", step=12, detail="").form
    assert replayed.fields == (("WWW-Authenticate", 'Signature error="request_signature_replayed"'),)
    silent = profiles.ADCP_3_2.derive(answers=profiles.ADCP_3_2.answers._replace(asks=frozenset()))
    assert [name for name, _ in silent.error("signature_required", step=0, detail="").form.fields] == [
        "WWW-Authenticate"
    ]


def test_profile_asks_for_a_nonce_that_it_accepts_and_asks_for_once():
    found = [re.search('nonce="([^"]*)"', profiles.ADCP_3_2.wanted())[1] for _ in range(2)]
    assert len(set(found)) == 2
    assert all(map(profiles.ADCP_3_2.nonce_pattern.fullmatch, found))


def test_profile_asks_for_the_algorithm_only_if_there_is_one():
    assert ";alg=" not in profiles.ADCP_3_2.wanted()
    assert ';alg="ed25519"' in profiles.ADCP_3_2.derive(algorithms=frozenset({"ed25519"})).wanted()


def test_derived_profile_with_an_unknown_attribute_lists_those_that_there_are():
    with pytest.raises(ConfigurationError, match=r"^keys: change one of name, source, selection, .*\bkey\b"):
        profiles.DEFAULT.derive(keys=KeyRule())

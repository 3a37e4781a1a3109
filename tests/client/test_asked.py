"""What a second try signs of what a receiver asks for, and what it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.activitypub.actors import signing_key
from tests.keys import BODY, JSON_FIELD, KEY, NOW, signer

from undersigned import Signer, profiles
from undersigned.cavage import CavageSigner
from undersigned.client import ClientSigner
from undersigned.message.signature_input import parse_signature_input
from undersigned.signature.rules import CoverageRule, ParameterRule

ORIGIN = "https://seller.example.com"
FIELDS = [
    JSON_FIELD,
    ("X-Plan", "gold"),
    ("X-Other", "1"),
    ("Authorization", "Bearer a"),
    ("Signature-Agent", 'sig1="https://bot.example/"'),
]
NONCE = "AAAAAAAAAAAAAAAAAAAAAA"
PLAIN = profiles.GNAP.derive(name="plain")
BOT = profiles.WEB_BOT_AUTH_TYPED


def second(wanted, *, profile=profiles.ADCP_3_2, status=401, body=b"", fields=FIELDS, **options):
    """The label, the identifiers and the parameters of a second signature, or None if there is none."""
    client = ClientSigner(signer(profile, **{"may_cover": ["x-plan"], **options}), [ORIGIN])
    signed = client.sign("POST", f"{ORIGIN}/orders?a=1", fields, body)
    again = client.second_try(signed, status, wanted)
    if again is None:
        return None
    fields = dict(again.sign("POST", signed.url, signed.fields, body).signature)
    [(label, member)] = parse_signature_input(fields["Signature-Input"]).items()
    return label, member.coverage.texts, member.parameters


@pytest.mark.parametrize(
    ("wanted", "added"),
    [
        ('sig1=("@path")', ['"@path"']),
        ('sig1=("@path");created;expires;keyid="buyer-ed25519";alg="ed25519"', ['"@path"']),
        ('sig1=("@path");tag="adcp/request-signing/v1"', ['"@path"']),
        ('sig1=("@scheme" "@request-target" "@query")', ['"@scheme"', '"@request-target"', '"@query"']),
        ('sig1=("@query-param";name="a")', ['"@query-param";name="a"']),
        ('sig1=("x-plan" "@method")', ['"x-plan"']),
        ('sig1=("x-plan";bs)', ['"x-plan";bs']),
        ('sig1=("content-type";sf)', ['"content-type";sf']),
        ('sig1=("content-type")', ['"content-type"']),
        ('sig1=("content-digest")', ['"content-digest"']),
        ('a=("@status"), b=("@method";req), c=("@path")', ['"@path"']),
    ],
)
def test_component_that_is_asked_for_is_added_to_the_covered_ones(wanted, added):
    _, covered, _ = second(wanted)
    assert list(covered) == ['"@method"', '"@target-uri"', '"@authority"', *added]


def test_digest_of_the_content_is_made_if_it_is_asked_for():
    _, covered, _ = second('sig1=("content-digest")', profile=profiles.ADCP_3_1, body=BODY)
    assert '"content-digest"' in covered


def test_label_and_nonce_are_those_that_are_asked_for():
    label, covered, parameters = second(f'other=();nonce="{NONCE}"')
    assert (label, parameters["nonce"], len(covered)) == ("other", NONCE, 3)


def test_parameter_that_the_profile_leaves_open_is_written_if_it_is_asked_for():
    label, _, parameters = second('sig1=();expires;nonce="any";keyid="buyer-ed25519"', profile=PLAIN)
    assert (label, parameters["nonce"], parameters["keyid"]) == ("sig1", "any", "buyer-ed25519")
    assert parameters["expires"] > NOW


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        "",
        'sig1=("@path"',
        "sig1=1",
        'sig1=("@path" "@path")',
        f'sig1=("@path");tag="{"x" * 3000}"',
        'sig1=("@method" "@authority");created;expires;tag="adcp/request-signing/v1"',
        'sig1=("@method");keyid="buyer-ed25519"',
        'sig1=("@status")',
        'sig1=("@path";req)',
        'sig1=("x-plan";tr)',
        'sig1=("x-other")',
        'sig1=("authorization")',
        'sig1=("signature")',
        'sig1=("@query-param")',
        'sig1=("@query-param";name="absent")',
        'sig1=("x-plan";sf)',
        'sig1=("@path");created=1',
        'sig1=("@path");expires=1',
        'sig1=("@path");nonce',
        'sig1=("@path");nonce="short"',
        'sig1=("@path");keyid="another"',
        'sig1=("@path");alg="rsa-pss-sha512"',
        'sig1=("@path");tag="web-bot-auth"',
        'sig1=("@path");context="x"',
    ],
)
def test_what_cannot_or_must_not_be_signed_is_not_tried(wanted):
    assert second(wanted) is None


def test_header_field_that_the_request_does_not_have_is_not_tried():
    assert second('sig1=("x-plan")', fields=[]) is None


@pytest.mark.parametrize("status", [200, 301, 402, 429, 500])
def test_answer_with_another_status_asks_for_nothing(status):
    assert second('sig1=("@path")', status=status) is None


def test_signer_that_may_cover_none_does_nothing_of_what_it_is_asked():
    assert second('sig1=("@path")', may_cover=None) is None


def test_components_of_the_signer_and_of_the_profile_may_be_asked_for():
    sent = profiles.ADCP_3_2.derive(
        coverage=replace(profiles.ADCP_3_2.coverage, if_sent=("x-plan",), any_of=(("@path", "x-any"),))
    )
    fields = [*FIELDS, ("X-Any", "1"), ("X-Own", "2")]
    for name in ("x-plan", "x-any", "x-own"):
        _, covered, _ = second(f'sig1=("{name}";bs)', profile=sent, fields=fields, may_cover=(), components=["x-own"])
        assert f'"{name}";bs' in covered


def test_component_or_parameter_that_the_profile_forbids_is_not_tried():
    forbidding = PLAIN.derive(
        coverage=CoverageRule(never=frozenset({"@path"})),
        parameters=replace(PLAIN.parameters, nonce="forbidden", written=frozenset()),
        digest=replace(PLAIN.digest, policy="forbidden"),
    )
    assert second('sig1=("@path")', profile=forbidding) is None
    assert second('sig1=("@query");nonce="a"', profile=forbidding) is None
    assert second('sig1=("content-digest")', profile=forbidding) is None
    assert second('sig1=("@query")', profile=forbidding) is not None


def test_label_names_the_member_of_signature_agent_so_it_is_not_changed():
    assert second('sig2=("@path")', profile=BOT) is None
    label, covered, _ = second('sig1=("@path" "signature-agent";key="sig1")', profile=BOT)
    assert (label, '"@path"' in covered) == ("sig1", True)


def test_signer_of_the_older_scheme_is_not_asked():
    client = ClientSigner(CavageSigner(signing_key()), [ORIGIN])
    signed = client.sign("GET", f"{ORIGIN}/", [], b"")
    assert client.second_try(signed, 401, 'sig1=("@path")') is None


def test_signer_by_another_profile_keeps_its_key_and_options():
    one = Signer(KEY, profile=profiles.ADCP_3_2, components=["x-a"], may_cover=["x-b"], nonces=lambda: NONCE)
    other = one.by(profiles.ADCP_3_1)
    assert (other.keyid, other.algorithm, other.components, other.may_cover) == (
        "buyer-ed25519", "ed25519", ("x-a",), ("x-b",),
    )  # fmt: skip
    assert other.profile is profiles.ADCP_3_1
    assert one.by(PLAIN.derive(parameters=ParameterRule(nonce_bytes=16, tag="optional", alg="optional"))).keyid

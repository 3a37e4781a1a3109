from __future__ import annotations

import pytest
from tests.keys import (
    BARE,
    BODY,
    FULL,
    JSON_FIELD,
    NONCE,
    NOW,
    URL,
    covering,
    parameters,
    replace_parts,
    signed_request,
    unsigned_claim,
    with_field,
)
from tests.verification.stages import screen_request
from tests.work import lines_run

from undersigned import MalformedSignature, Request, SignatureError, SignatureRejected, profiles
from undersigned.signature.rules import CoverageRule

MEGABYTE = 1024 * 1024
DIGEST = "sha-256=:SNIVma8dgUBx/U1CBaYFQnsJep9S0/tXaNXlQQOdoxQ=:"


def rejection(request: Request, profile=profiles.ADCP_3_2, *, now: float = NOW) -> SignatureError:
    with pytest.raises(SignatureError) as caught:
        screen_request(request, profile, now=now)
    return caught.value


def code(request: Request, profile=profiles.ADCP_3_2, *, now: float = NOW) -> tuple[str, object]:
    error = rejection(request, profile, now=now)
    return error.code.removeprefix(profile.answers.prefix), error.step


MALFORMED = ("signature_header_malformed", 1)


def bodiless(**changes) -> Request:
    return unsigned_claim(covering(*BARE, **changes))


def with_content(*components: str, fields=(JSON_FIELD, ("Content-Digest", DIGEST)), **parts) -> Request:
    return unsigned_claim(covering(*(components or FULL)), method="POST", fields=fields, body=BODY, **parts)


def test_parsed_signature_has_the_values_of_its_fields():
    request = signed_request()
    candidate = screen_request(request, profiles.ADCP_3_2, now=NOW)
    assert candidate.request is request
    assert (candidate.label, candidate.keyid, candidate.algorithm) == ("sig1", "buyer-ed25519", "ed25519")
    assert (candidate.created, candidate.expires, candidate.nonce) == (NOW, NOW + 300, NONCE)
    assert len(candidate.signature) == 64
    assert set(candidate.digest) == {"sha-256"}
    assert candidate.until == NOW + 360
    assert candidate.now == NOW


# Steps 0 and 1


@pytest.mark.parametrize("fields", [[], [("authorization", "Bearer x")], [("x-signature", "x")], [("signature-", "x")]])
def test_request_without_signature_fields_is_unsigned(fields):
    request = Request("GET", URL, fields)
    error = rejection(request)
    assert (error.code, error.step) == ("request_signature_required", 0)
    assert type(error) is SignatureRejected


@pytest.mark.parametrize("name", ["Signature", "Signature-Input"])
@pytest.mark.parametrize("value", ["", "sig1=()", "sig1=:AAAA:"])
def test_one_field_without_the_other_is_malformed(name, value):
    request = Request("GET", URL, [(name, value)])
    assert code(request) == MALFORMED
    assert type(rejection(request)) is MalformedSignature


@pytest.mark.parametrize(
    "header",
    [("a b", "v"), ("", "v"), ("a\nb", "v"), ("é", "v"), ("a", "v\r\n w"), ("a", "v\nw"), ("a", "\0"), ("a:", "v")],
)
def test_impossible_field_value_is_malformed(header):
    assert code(replace_parts(signed_request(), fields=[*signed_request().fields, header])) == MALFORMED


# What parsers reject, tests/message has in every spelling.


@pytest.mark.parametrize(
    "value", ["", "sig1=:AAAA:", 'sig1=("@method"', "sig1=(), other", "sig1=();a=1;a=2", "sig1=\ud800"]
)
def test_signature_input_that_cannot_be_read_is_malformed(value):
    assert code(unsigned_claim(value)) == MALFORMED


@pytest.mark.parametrize(
    "value",
    ["", "sig1=1", "sig1=:AA:", "sig2=:AAAA:", "sig1=:AAAA:, other=1", "sig1=:AAAA:, other=:-_-_:", "sig1=:\xe9:"],
)
def test_signature_that_cannot_be_read_is_malformed(value):
    assert code(unsigned_claim(covering(*BARE), value)) == MALFORMED


def test_profile_rejects_the_base64_alphabet_of_another_profile():
    padded, unpadded = "sig1=:++AA:, b=:AA==:", "sig1=:--AA:, b=:AA:"
    claim = covering(*BARE)
    assert screen_request(unsigned_claim(claim, padded), profiles.ADCP_3_2, now=NOW)
    assert screen_request(unsigned_claim(claim, unpadded), profiles.ADCP_3_1, now=NOW)
    assert code(unsigned_claim(claim, unpadded), profiles.ADCP_3_2) == MALFORMED
    assert code(unsigned_claim(claim, padded), profiles.ADCP_3_1) == MALFORMED


@pytest.mark.parametrize("name", ["created", "expires"])
@pytest.mark.parametrize(
    "raw", ['"1776520800"', "1776520800.0", "?1", "@1776520800", "tok", ":AAAA:", '%"1"', "1000000000000000", "1e9"]
)
def test_time_is_malformed_when_it_is_not_an_integer(name, raw):
    assert code(bodiless(**{name: raw})) == MALFORMED


@pytest.mark.parametrize("name", ["nonce", "keyid", "alg", "tag"])
@pytest.mark.parametrize("raw", ["1", "1.5", "?1", "@1776520800", "tok", ":AAAA:", '%"text"', "(1)", '"a'])
def test_text_parameter_is_malformed_when_it_is_not_a_string(name, raw):
    assert code(bodiless(**{name: raw})) == MALFORMED


@pytest.mark.parametrize(
    "nonce",
    ["", "A" * 21, "A" * 20, "A" * 25, "A" * 22 + "=", "A" * 23 + "+", "A" * 23 + "/", "A" * 22 + "==", " " * 22],
)
def test_nonce_that_is_short_or_not_unpadded_base64url_is_malformed(nonce):
    assert code(bodiless(nonce=f'"{nonce}"')) == MALFORMED


@pytest.mark.parametrize("nonce", ["A" * 22, "-" * 23, "_" * 24, "A" * 26, "A" * 1500])
def test_nonce_of_sixteen_bytes_or_more_is_read(nonce):
    assert screen_request(bodiless(nonce=f'"{nonce}"'), profiles.ADCP_3_2, now=NOW).nonce == nonce


@pytest.mark.parametrize(
    "types",
    [
        [("content-type", "application/json"), ("content-type", "application/json")],
        [("content-type", "application/json, text/plain")],
        [("content-type", "application/json,")],
        [("content-type", ",")],
        [("content-type", 'text/plain; a="b", text/html')],
        [("content-type", 'text/plain; a="b\\", text/html')],
        [("content-type", 'text/plain; a="b')],
        [("content-type", "a"), ("content-type", "")],
    ],
)
def test_covered_content_type_of_several_values_is_malformed(types):
    request = with_content(fields=[*types, ("Content-Digest", DIGEST)])
    assert code(request) == MALFORMED


@pytest.mark.parametrize(
    "value", ["application/json", 'text/plain; a="b, c"', 'text/plain; a="b\\", c"; d="e"', "", ";"]
)
def test_content_type_of_one_value_is_read(value):
    request = with_content(fields=[("content-type", value), ("Content-Digest", DIGEST)])
    assert screen_request(request, profiles.ADCP_3_2, now=NOW)


def test_content_type_has_one_value_if_it_is_covered_whatever_its_parameters():
    types = [("content-type", "text/plain"), ("content-type", "application/json")]
    for component in ('"content-type"', '"content-type";bs', '"content-type";sf'):
        assert code(unsigned_claim(covering(*BARE, component), fields=types)) == MALFORMED
    assert screen_request(unsigned_claim(covering(*BARE), fields=types), profiles.ADCP_3_2, now=NOW)


DIGESTS = [
    "",
    "sha-256",
    "sha-256=1",
    "SHA-256=:AAAA:",
    "sha-256=:AAAA:, sha-256=:AAAA:",
    "sha-256=:AAAA:, sha-512=:AA:",
    "sha-256=:-_-_:",
    "sha-256=:AB==:",
    "é=:AAAA:",
]


@pytest.mark.parametrize("value", DIGESTS)
@pytest.mark.parametrize(
    "component", ['"content-digest"', '"content-digest";sf', '"content-digest";bs', '"content-digest";key="sha-256"']
)
def test_covered_content_digest_that_cannot_be_read_is_malformed(component, value):
    request = unsigned_claim(covering(*BARE, component), fields=[("content-digest", value)])
    assert code(request) == MALFORMED


def test_covered_content_digest_that_is_absent_is_malformed():
    assert code(unsigned_claim(covering(*BARE, "content-digest"))) == MALFORMED


@pytest.mark.parametrize("value", DIGESTS)
def test_content_digest_that_is_not_covered_is_not_read(value):
    request = unsigned_claim(covering(*BARE), fields=[("content-digest", value)])
    assert screen_request(request, profiles.ADCP_3_2, now=NOW).digest is None


# The label


@pytest.mark.parametrize(
    ("claims", "label"),
    [
        ([covering(*BARE, label="other"), covering(*BARE)], "sig1"),
        ([covering(*BARE), 'b=("@method" "x");created="x";nonce=1'], "sig1"),
        ([covering(*BARE, label="a", tag='"x"'), covering(*BARE, label="b"), "c=()"], "b"),
        ([covering(*BARE, label="a", tag='"x"'), "b=()"], None),
        ([covering(*BARE, tag='"x"'), covering(*BARE, label="b")], None),
    ],
    ids=["its label at any place", "its label alone", "first of its tag", "first of all", "its label with another tag"],
)
def test_signature_with_the_label_of_the_profile_is_read_or_the_first_with_its_tag_or_the_first(claims, label):
    request = unsigned_claim(", ".join(claims), "a=:AAAA:, b=:AAAA:, c=:AAAA:, sig1=:AAAA:, other=:AAAA:")
    if label is None:
        assert code(request) == ("signature_tag_invalid", 3)
    else:
        assert screen_request(request, profiles.ADCP_3_2, now=NOW).label == label


# Steps 2 to 5


@pytest.mark.parametrize("name", ["created", "expires", "nonce", "keyid", "alg", "tag"])
def test_absent_parameter_is_incomplete(name):
    request = bodiless(**{name: None})
    assert code(request) == ("signature_params_incomplete", 2)
    assert type(rejection(request)) is MalformedSignature
    assert name in rejection(request).detail


def test_another_tag_is_invalid_and_an_unlisted_algorithm_not_allowed():
    for tag in ("adcp/webhook-signing/v1", "adcp/request-signing/v2", "ADCP/request-signing/v1", ""):
        assert code(bodiless(tag=f'"{tag}"')) == ("signature_tag_invalid", 3)
    for alg in ("hmac-sha256", "rsa-pss-sha512", "ecdsa-p384-sha384", "Ed25519", "EdDSA", "none", ""):
        assert code(bodiless(alg=f'"{alg}"')) == ("signature_alg_not_allowed", 4)


@pytest.mark.parametrize(
    ("created", "expires"),
    [
        (NOW, NOW),
        (NOW, NOW - 1),
        (NOW, NOW + 301),
        (NOW + 61, NOW + 62),
        (NOW - 200, NOW - 61),
        (0, 300),
        (-1, 299),
        (999_999_999_999_998, 999_999_999_999_999),
        (-999_999_999_999_999, 999_999_999_999_999),
    ],
)
def test_window_is_invalid_when_it_is_inverted_too_long_or_over(created, expires):
    assert code(bodiless(created=created, expires=expires)) == ("signature_window_invalid", 5)


@pytest.mark.parametrize(
    ("created", "expires"),
    [(NOW, NOW + 1), (NOW, NOW + 300), (NOW + 60, NOW + 360), (NOW - 360, NOW - 60), (NOW - 61, NOW - 60)],
)
def test_window_is_valid_within_the_skew(created, expires):
    assert screen_request(bodiless(created=created, expires=expires), profiles.ADCP_3_2, now=NOW)


def test_window_is_invalid_a_fraction_of_a_second_beyond_the_skew():
    request = bodiless(created=NOW - 360, expires=NOW - 60)
    assert code(request, now=NOW + 0.001) == ("signature_window_invalid", 5)
    assert code(bodiless(created=NOW + 60, expires=NOW + 61), now=NOW - 0.001) == ("signature_window_invalid", 5)


# Step 6


@pytest.mark.parametrize("missing", BARE)
def test_required_component_must_be_covered(missing):
    listed = [component for component in BARE if component != missing]
    assert code(unsigned_claim(covering(*listed))) == ("signature_components_incomplete", 6)


@pytest.mark.parametrize("missing", FULL)
def test_content_type_and_digest_must_be_covered_with_content(missing):
    listed = [component for component in FULL if component != missing]
    assert code(with_content(*listed)) == ("signature_components_incomplete", 6)


def test_announced_content_counts_as_content():
    request = unsigned_claim(covering(*BARE), method="POST", has_body=True)
    assert code(request) == ("signature_components_incomplete", 6)


@pytest.mark.parametrize(
    "component", ['"@method";req', '"@target-uri";x', '"@authority";req', '"content-type";bs', '"content-digest";sf']
)
def test_component_with_parameters_is_not_the_required_one(component):
    name = component.split('"')[1]
    listed = [component if listed == name else listed for listed in FULL]
    assert code(with_content(*listed)) == ("signature_components_incomplete", 6)


@pytest.mark.parametrize(
    "component", ['"content-digest"', '"content-digest";sf', '"content-digest";bs', '"content-digest";key="sha-256"']
)
def test_forbidden_digest_is_unexpected_however_it_is_covered(component):
    forbidding = profiles.ADCP_3_1.derive(digest=profiles.ADCP_3_1.digest._replace(policy="forbidden"))
    request = with_content(*BARE, "content-type", component)
    assert code(request, forbidding) == ("signature_components_unexpected", 6)


@pytest.mark.parametrize("component", ['"content-digest";sf', '"content-digest";bs', '"content-digest";key="sha-256"'])
def test_digest_covered_with_parameters_also_binds_the_content(component):
    request = with_content(*BARE, "content-type", component)
    assert screen_request(request, profiles.ADCP_3_1, now=NOW).digest is not None


def test_parameters_and_components_that_the_profile_forbids_are_unexpected():
    adcp = profiles.ADCP_3_2
    without_alg = adcp.derive(parameters=adcp.parameters._replace(alg="forbidden"))
    assert code(bodiless(), without_alg) == ("signature_params_unexpected", 2)
    without_date = adcp.derive(coverage=adcp.coverage._replace(never=frozenset({"date"})))
    dated = unsigned_claim(covering(*BARE, "date"), fields=[("date", "today")])
    assert code(dated, without_date) == ("signature_components_unexpected", 6)


def test_field_that_every_message_must_have_is_missing():
    profile = profiles.ADCP_3_2.derive(coverage=CoverageRule(sent=("date",)))
    assert code(bodiless(), profile) == ("signature_identity_missing", 6)


def test_detail_names_everything_that_must_be_covered():
    assert rejection(unsigned_claim(covering("@method"))).detail == "@target-uri, @authority must be covered"
    rule = CoverageRule(always=("@method", "@path"), any_of=(("@query", "date"),))
    error = rejection(unsigned_claim(covering("@method")), profiles.ADCP_3_2.derive(coverage=rule))
    assert error.detail == "@path must be covered; @query or date must be covered"


@pytest.mark.parametrize(
    ("parameters", "is_bound"),
    [
        (';key="sha-256"', True),
        (';key="sha-256";sf', True),
        (';sf;key="sha-256"', True),
        (';key="sha-512"', False),
        (';key="md5"', False),
    ],
)
def test_content_is_bound_only_by_a_covered_member_of_the_digest(parameters, is_bound):
    fields = [JSON_FIELD, ("content-digest", f"md5=:AAAA:, {DIGEST}")]
    request = with_content(*BARE, "content-type", f'"content-digest"{parameters}', fields=fields)
    signature = screen_request(request, profiles.ADCP_3_1, now=NOW)
    assert signature.running_digest(BODY).matches(signature.digest) is is_bound


@pytest.mark.parametrize("parameters", [";req", ";tr", ';key="sha-256";req', ';key="sha-256";tr', ";bs;req"])
def test_digest_of_another_message_or_of_the_trailers_does_not_bind_the_content(parameters):
    request = with_content(*BARE, "content-type", f'"content-digest"{parameters}')
    assert screen_request(request, profiles.ADCP_3_1, now=NOW).digest is None


def test_webhook_must_cover_every_component_even_without_content():
    webhook = profiles.ADCP_WEBHOOK
    request = unsigned_claim(covering(*BARE, tag=f'"{webhook.selection.tag}"'))
    assert code(request, webhook) == ("signature_components_incomplete", 6)


# The order of the steps decides the code


def test_first_failing_step_gives_the_code():
    faults = [
        (1, {"nonce": '"short"'}),
        (2, {"keyid": None}),
        (3, {"tag": '"other"'}),
        (4, {"alg": '"rsa-pss-sha512"'}),
        (5, {"expires": NOW}),
    ]
    for first in range(len(faults)):
        changes = {name: raw for _, fault in faults[first:] for name, raw in fault.items()}
        assert code(unsigned_claim(covering("@method", **changes)))[1] == faults[first][0]
    assert code(unsigned_claim(covering("@method")))[1] == 6


def test_malformed_digest_is_reported_before_a_missing_parameter():
    request = with_content(fields=[JSON_FIELD, ("content-digest", "SHA-256=:AAAA:")])
    request = with_field(request, "signature-input", covering(*FULL, expires=None))
    assert code(request) == MALFORMED


# Hostile sizes


SCREENED = 500
"""More lines of Python than the screening of a small request runs (at most 250), and far fewer than one a character."""
QUOTES = '"' + '\\"' * (MEGABYTE // 2)


@pytest.mark.parametrize(
    "request_",
    [
        unsigned_claim(covering(*BARE), QUOTES),
        unsigned_claim(QUOTES),
        unsigned_claim(covering(*BARE), "sig1=:AAAA:;p=" + QUOTES),
        with_content(fields=[("content-type", QUOTES), ("content-digest", DIGEST)]),
        with_content(fields=[("content-type", "," + '"\\' * (MEGABYTE // 2)), ("content-digest", DIGEST)]),
        with_content(fields=[JSON_FIELD, ("content-digest", QUOTES)]),
        unsigned_claim(", ".join(f"l{number}=()" for number in range(40_000))),
        unsigned_claim("sig1=()" + "".join(f";p{number}" for number in range(60_000))),
        unsigned_claim(covering(*BARE), ", ".join(f"l{number}=:AAAA:" for number in range(30_000))),
        unsigned_claim("sig1=(" + " ".join(f'"{number}"' for number in range(50_000)) + ")"),
        unsigned_claim("(" * MEGABYTE),
        unsigned_claim("sig1=(" + " " * MEGABYTE),
        unsigned_claim("sig1=()" + " " * MEGABYTE + ","),
        bodiless(nonce=f'"{"A" * MEGABYTE}="'),
        Request("GET", URL, [("signature", ""), ("a" * MEGABYTE + " ", "v")]),
        Request("GET", URL, [("signature", "sig1=:AAAA:"), *[("x", "y")] * 50_000, ("signature-input", "sig1=(,")]),
        Request("GET", URL, [("signature", "sig1=:AAAA:")] * 20_000 + [("signature-input", "sig1=()")] * 20_000),
    ],
    ids=range(17),
)
def test_hostile_message_is_rejected_with_the_work_for_a_small_one(request_):
    assert code(request_)[1] in {1, 2}
    assert lines_run(lambda: rejection(request_)) < SCREENED


def test_detail_contains_no_text_of_the_message():
    secret = "s3cr3t"
    for request in (
        unsigned_claim(f"{secret}=("),
        unsigned_claim(covering(*BARE), f"{secret}=1"),
        unsigned_claim(covering(*BARE, f'"{secret}"', f'"{secret}"')),
        unsigned_claim(f"{secret}=(), {secret}=()"),
        bodiless(**{secret: '"a"', "tag": f'"{secret}"'}),
        bodiless(alg=f'"{secret}"'),
        bodiless(nonce=f'"{secret}"'),
        with_content(fields=[("content-type", f"{secret}, {secret}"), ("content-digest", DIGEST)]),
        with_content(fields=[JSON_FIELD, ("content-digest", f"{secret}=1")]),
        Request("GET", URL, [("signature", "x"), (secret, f"{secret}\0")]),
    ):
        error = rejection(request)
        assert secret not in f"{error} {error!r} {error.detail}"


def test_unknown_parameters_are_kept_in_the_base():
    claim = f"{covering(*BARE)};x-custom=tok;flag"
    candidate = screen_request(unsigned_claim(claim), profiles.ADCP_3_2, now=NOW)
    assert candidate.text.endswith(f"{parameters()};x-custom=tok;flag")


# Sizes that cost more to read than a signature does to verify


@pytest.mark.parametrize("value", ['"' * 2049, "," * 2049])
def test_content_type_over_the_length_limit_is_malformed(value):
    assert code(with_content(fields=[("content-type", value), ("content-digest", DIGEST)])) == MALFORMED

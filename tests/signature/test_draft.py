"""Drafts: the short ways of a signer give what its checks and `signature_base`, one after the other, give."""

from __future__ import annotations

import base64
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.keys import BODY, JSON_FIELD, NONCE, NOW, URL, signer

from undersigned import MalformedURL, Request, Response, SigningError, canonicalize, profiles
from undersigned.limits import MOST_EFFORT
from undersigned.message.content_digest import content_digest
from undersigned.message.request_target import typed_target
from undersigned.message.structured_fields import base64url, serialize_byte_sequence
from undersigned.signature.components import UnresolvableComponent, signature_base, values_of
from undersigned.signature.covering import Covered
from undersigned.signature.effort import BASE_CHARACTERS, effort
from undersigned.signature.plain_base import PlainBase
from undersigned.signature.receiver import (
    USUAL_BASE,
    USUAL_EFFORT,
    check_base,
    check_content_type,
    check_fields,
    check_signatures,
    check_target,
    is_usual,
)
from undersigned.signature.signing_target import SigningTarget

NAMES = ["host", ":authority", "content-type", "signature-input", "signature", "x", "x%s", "set-cookie"]
VALUES = [
    "seller.example.com",
    "seller.example.com:443",
    "SELLER.example.com",
    "evil.example",
    "application/json",
    "text/plain, a/b",
    'a/b;c="d"',
    'a=("x");created=1',
    'sig1=("x");created=1',
    "a=:AAAA:",
    "sha-256=:AAAA:",
    "",
    "%s %(x)s",
    "a\tb",
    "\xe9",
    "a\nb",
    "a\x01b",
    "\x7f",
    "v" * 700,
    "v" * 30_000,
    '"' + "v" * 3000 + '"',
]
URLS = [
    URL,
    "https://seller.example.com",
    "HTTPS://Seller.example.com:443/a/../p?q#f",
    "https://seller.example.com/%7e?a=%zz",
    "https://seller.example.com/%c3%a9",
    "https://seller.example.com" + "/" * 240,
    "https://seller.example.com/?" + "q" * 300,
    "https://h/" + "%C3" * 300,
    "ftp://h/",
]
DIGEST = ("Content-Digest", content_digest(BODY, "base64"))
FIELDS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=4)
COMPONENTS = st.lists(
    st.sampled_from(["@method", "@target-uri", "@authority", "@path", '"x";sf', '"@authority";req', *NAMES]),
    max_size=6,
)
REQUESTS = st.builds(
    Request,
    st.sampled_from(["GET", "POST", "post", "PROPFIND", "GE T"]),
    st.sampled_from(URLS),
    st.one_of(
        FIELDS,
        FIELDS.map(lambda fields: [JSON_FIELD, *fields]),
        FIELDS.map(lambda fields: [JSON_FIELD, DIGEST, *fields]),
        FIELDS.map(lambda fields: fields * 30),
    ),
    st.sampled_from([BODY, b""]),
)
PROFILES = [
    profiles.ADCP_3_2,
    profiles.ADCP_3_1,
    profiles.ADCP_3_2.derive(target="typed"),
    profiles.ADCP_3_2.derive(coverage=replace(profiles.ADCP_3_2.coverage, if_sent=("x",), with_query=("@query",))),
]


def outcome(made) -> object:
    """What a function returns, or the error that it raises."""
    try:
        return made()
    except (MalformedURL, SigningError) as error:
        return type(error), str(error)


def step_by_step(request: Request, profile, components, *, check_limits: bool) -> tuple[str, str]:
    """The base and the target of a signature, every check made, and nothing kept."""
    target = canonicalize(request.url)
    if check_limits:
        check_target(target)
    check_fields(request, target)
    signed = target if profile.target == "canonical" else typed_target(request.url, target)
    check_signatures(request, "sig1", encoding=profile.encoding)
    covered = Covered.of((*profile.components_of(request), *components))
    digest = None
    if "content-digest" in covered.names and "content-digest" not in request.fields.combined:
        digest = content_digest(request.body, profile.digest.encodings[0])
    text = f'{covered.text};created={NOW};expires={NOW + 300};nonce="{NONCE}";keyid="buyer-ed25519";alg="ed25519"'
    text += ';tag="adcp/request-signing/v1"'
    if "content-type" in covered.names:
        check_content_type(request)
    try:
        base = signature_base(values_of(request, signed, digest), covered.components, text)
    except UnresolvableComponent as unresolvable:
        names = ", ".join(covered.names)
        raise SigningError(f"{unresolvable} (covered: {names}); correct the message before it is signed") from None
    if check_limits:
        added = [("signature-input", f"sig1={text}"), ("signature", f"sig1=:{'s' * 1368}:")]
        added += [] if digest is None else [("content-digest", digest)]
        check_base(base, replace(request, fields=[*request.fields, *added]), covered.components)
    return base, signed.target_uri


@given(
    requests=st.lists(REQUESTS, min_size=1, max_size=3),
    profile=st.sampled_from(PROFILES),
    components=st.lists(st.sampled_from(["x", "x%s", "content-type", "set-cookie"]), max_size=2),
    check_limits=st.booleans(),
)
@example(requests=[Request("POST", URL, [JSON_FIELD], BODY)], profile=PROFILES[0], components=[], check_limits=True)
def test_signer_signs_and_rejects_as_the_checks_one_by_one(requests, profile, components, check_limits):
    signing = signer(profile, components=components, check_limits=check_limits)

    def prepared(request: Request) -> tuple[str, str]:
        made = signing.prepare(request, nonce=NONCE)
        return made.signature_base.decode(), made.target_uri

    for request in requests * 2:
        expected = outcome(partial(step_by_step, request, profile, components, check_limits=check_limits))
        assert outcome(partial(prepared, request)) == expected


@given(REQUESTS, st.booleans())
def test_usual_message_passes_every_check_of_the_receiver(request_, check_limits):
    try:
        target = SigningTarget.of(request_.url, form="canonical", check_limits=check_limits)
    except (MalformedURL, SigningError):
        return
    if is_usual(request_, target):
        check_fields(request_, target.canonical)
        check_signatures(request_, "sig1", encoding="base64")
        if "content-type" in request_.fields.combined:
            check_content_type(request_)
        check_base("b" * USUAL_BASE, request_, Covered.of(("@method", "@target-uri", "x")).components)


@pytest.mark.parametrize("path", ["/" * 247, "/" + "%c3" * 82, "/%c3" * 61 + "/a/", "/?" + "%c3" * 81])
def test_largest_usual_message_is_within_the_effort_of_a_receiver(path):
    url = f"https://h{path}"
    fields = [("host", "h"), *[(f"x{number}", "v" * 135) for number in range(22)]]
    target = SigningTarget.of(url, form="canonical", check_limits=False)
    covered = Covered.of(("@method", "@target-uri", "@authority", "x1"))
    assert is_usual(Request("GET", url, fields), target)
    spent = effort(Request("GET", url, fields), covered.components) + 3 + USUAL_BASE // BASE_CHARACTERS
    assert spent <= USUAL_EFFORT + covered.effort <= MOST_EFFORT
    for more in (
        Request("GET", url, [*fields, ("y", ""), ("z", "")]),
        Request("GET", url, [*fields, ("y", "v" * 100)]),
    ):
        assert not is_usual(more, target)
    assert not SigningTarget.of(f"{url}{'/' * 10}", form="canonical", check_limits=False).is_usual


@given(REQUESTS, COMPONENTS, st.sampled_from([None, "", "sha-256=:AAAA:", "\xe9"]))
def test_plain_base_is_the_signature_base_or_left_to_it(request_, names, digest):
    components = Covered.of(names).components
    plain = PlainBase.of(components)
    target = canonicalize(URL)
    if plain is None or not request_.fields.are_valid:
        return
    made = plain.text(request_, target, digest, "(%s)")
    try:
        expected = signature_base(values_of(request_, target, digest), components, "(%s)")
    except UnresolvableComponent:
        expected = None
    assert made in {None, expected}


@pytest.mark.parametrize("names", [("@method",), ("@method", "@path"), ("x", "set-cookie"), ("x", '"y";sf'), ()])
def test_base_is_not_plain_if_a_value_must_be_resolved_or_there_is_only_one(names):
    assert PlainBase.of(Covered.of(names).components) is None


def test_plain_base_has_the_method_the_target_and_whole_fields():
    covered = Covered.of(("@authority", "x%s", "@method", "content-digest", "@target-uri"))
    request = Request("GET", URL, [("X%s", "%s"), ("x%s", "b")])
    assert covered.plain_base.text(request, canonicalize(URL), "sha-256=:AAAA:", covered.text) == (
        '"@authority": seller.example.com\n"x%s": %s, b\n"@method": GET\n"content-digest": sha-256=:AAAA:\n'
        f'"@target-uri": {URL}\n"@signature-params": {covered.text}'
    )


def test_response_is_not_signed_by_the_short_way_of_requests():
    answered = Response(200, [JSON_FIELD], BODY, request=Request("POST", URL))
    with pytest.raises(SigningError, match="has no value in this message"):
        signer(profiles.ADCP_3_2.derive(message="response")).sign_response(answered)


@given(st.binary(max_size=70))
def test_base64url_is_unpadded(octets):
    expected = base64.urlsafe_b64encode(octets).rstrip(b"=").decode()
    assert base64url(octets) == expected
    assert serialize_byte_sequence(octets, "base64url") == f":{expected}:"


@pytest.mark.parametrize("value", ["a\x01b", "\x7f", "\xe9"])
def test_covered_field_is_not_signed_if_it_is_not_printable_ascii(value):
    with pytest.raises(SigningError, match="not printable ASCII"):
        signer(components=["x"]).sign(Request("GET", URL, [("x", value)]))


def test_covered_field_with_a_tab_is_signed():
    signed = signer(components=["x"]).sign(Request("GET", URL, [("x", "a\tb")]))
    assert '\n"x": a\tb\n' in signed.signature_base

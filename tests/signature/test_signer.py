from __future__ import annotations

import re

import httpx
import pytest
import urllib3
from requests.utils import requote_uri
from tests.keys import BODY, JSON_FIELD, KEY, NONCE, NOW, PRIVATE, URL, key_pair, signer, verifier

from undersigned import (
    ConfigurationError,
    KeyPair,
    MalformedURL,
    Request,
    Signer,
    SigningError,
    SigningKey,
    profiles,
)
from undersigned.message.request_target import RequestTarget
from undersigned.signature.rules import DigestRule, ParameterRule

POST = Request("POST", URL, [JSON_FIELD], BODY)
SHA_512 = profiles.ADCP_3_2.derive(digest=DigestRule(algorithms=("sha-512", "sha-256")))
NO_DIGEST = profiles.ADCP_3_1.derive(digest=DigestRule(policy="forbidden"))
GET = Request("GET", URL)
DIGEST = "sha-256=:SNIVma8dgUBx/U1CBaYFQnsJep9S0/tXaNXlQQOdoxQ=:"


def test_signed_fields_are_the_digest_the_input_and_the_signature():
    fields = list(signer().sign(POST, nonce=NONCE))
    assert [name for name, _ in fields] == ["Content-Digest", "Signature-Input", "Signature"]
    assert fields[0][1] == DIGEST
    assert fields[1][1] == (
        'sig1=("@method" "@target-uri" "@authority" "content-type" "content-digest")'
        f';created={NOW};expires={NOW + 300};nonce="{NONCE}";keyid="buyer-ed25519";alg="ed25519"'
        ';tag="adcp/request-signing/v1"'
    )
    assert re.fullmatch(r"sig1=:[A-Za-z0-9+/]{86}==:", fields[2][1])


def test_signed_fields_carry_the_base_and_the_target_that_were_signed():
    signed = signer().sign(Request("GET", "HTTPS://Seller.Example.com:443/./p#f"), nonce=NONCE)
    assert signed.target_uri == "https://seller.example.com/p"
    assert signed.signature_base.startswith('"@method": GET\n"@target-uri": https://seller.example.com/p\n')
    assert signed.fields == signer().sign(Request("GET", signed.target_uri), nonce=NONCE).fields


def test_signed_fields_repr_shows_neither_base_nor_target():
    shown = repr(signer().sign(Request("GET", "https://h/?token=s3cr3t")))
    assert "s3cr3t" not in shown


def test_u_label_is_signed_as_its_a_label():
    signed = signer().sign(Request("GET", "https://bücher.example/", [("host", "Bücher.example")]))
    assert signed.target_uri == "https://xn--bcher-kva.example/"


def test_key_without_a_purpose_signs_for_any_profile():
    key = SigningKey.from_jwk({name: value for name, value in PRIVATE.items() if name != "adcp_use"})
    assert signer(key=key).sign(GET)


def test_label_times_and_nonce_can_be_given():
    fields = dict(signer().sign(GET, created=NOW + 5, expires=NOW + 6, nonce="A" * 22, label="mine"))
    assert fields["Signature-Input"].startswith('mine=("@method"')
    assert f';created={NOW + 5};expires={NOW + 6};nonce="{"A" * 22}";' in fields["Signature-Input"]
    assert fields["Signature"].startswith("mine=:")


def test_each_signature_has_a_nonce_of_its_own_with_as_many_bytes_as_the_profile_asks_for():
    for asked, made in ((0, 22), (16, 22), (32, 43)):
        profile = profiles.ADCP_3_2.derive(parameters=ParameterRule(nonce_bytes=asked))
        signed = [dict(signer(profile).sign(GET))["Signature-Input"] for _ in range(50)]
        nonces = {re.search('nonce="([^"]*)"', one)[1] for one in signed}
        assert (len(nonces), {*map(len, nonces)}) == (50, {made})


def test_created_time_is_in_whole_seconds():
    assert f";created={NOW};" in dict(signer(now=NOW + 0.9).sign(GET))["Signature-Input"]


def test_more_fields_can_be_covered():
    fields = [JSON_FIELD, ("Idempotency-Key", "k"), ("Idempotency-Key", "l")]
    signed = signer(components=["idempotency-key", "content-type"]).sign(Request("POST", URL, fields, BODY))
    assert '\n"idempotency-key": k, l\n' in signed.signature_base
    request = Request("POST", URL, [*fields, *signed.fields], BODY)
    assert '"idempotency-key"' in verifier().verify(request).components


def test_second_signature_is_added_to_the_first():
    first = signer().sign(GET, label="proxy")
    both = [*first, *signer().sign(Request("GET", URL, first))]
    assert verifier().verify(Request("GET", URL, both)).label == "sig1"


@pytest.mark.parametrize(
    "given",
    [
        [("signature-input", "sig1=()")],
        [("signature-input", "a=() ,\tsig1=()")],
        [("signature-input", "a=()"), ("signature-input", "sig1=()")],
        [("signature", "sig1=:AAAA:")],
        [("signature-input", "a=()"), ("signature", "a=:AAAA:, sig1=:AAAA:")],
    ],
)
def test_label_is_rejected_when_the_request_has_a_signature_of_that_label(given):
    with pytest.raises(SigningError, match="already has a signature labelled sig1; pass another label="):
        signer().sign(Request("GET", URL, given))


@pytest.mark.parametrize(
    "given",
    [
        ("signature-input", ""),
        ("signature-input", "a"),
        ("signature-input", "sig1 = ()"),
        ("signature-input", "a=(), a=()"),
        ("signature-input", '"sig1=()'),
        ("signature", ""),
        ("signature", "a=1"),
        ("signature", "a=:AAA:"),
        ("signature", "\xe9"),
    ],
)
def test_request_is_not_signed_when_its_signature_fields_cannot_be_read(given):
    with pytest.raises(SigningError, match=r"Signature-Input or Signature cannot be read: .*; remove both"):
        signer().sign(Request("GET", URL, [given]))


# The digest


def test_correct_digest_of_the_request_is_kept():
    request = Request("POST", URL, [JSON_FIELD, ("Content-Digest", DIGEST)], BODY)
    fields = signer().sign(request)
    assert [name for name, _ in fields] == ["Signature-Input", "Signature"]
    assert verifier().verify(Request("POST", URL, [*request.fields, *fields], BODY))


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("sha-256=:AAAA:", "does not match the body"),
        ("md5=:AAAA:", "does not match the body"),
        ("", "not a dictionary of byte sequences"),
        ("sha-256=AAAA", "not a dictionary of byte sequences"),
        ("sha-256=:AA:", "not in the profile's Base64"),
    ],
)
@pytest.mark.parametrize(
    "making",
    [signer(), signer(profiles.ADCP_3_1, components=["content-digest"])],
    ids=["required", "chosen"],
)
def test_wrong_digest_of_the_request_is_rejected(making, given, fault):
    if given == "sha-256=:AA:" and making.profile is profiles.ADCP_3_1:
        fault = "does not match the body"
    with pytest.raises(SigningError, match=f"{fault}.*; remove it, and the signer makes one"):
        making.sign(Request("POST", URL, [JSON_FIELD, ("Content-Digest", given)], BODY))


@pytest.mark.parametrize("body", [BODY, b""])
def test_digest_is_added_when_only_the_caller_asks_for_it(body):
    making = signer(profiles.ADCP_3_1, components=["content-digest"])
    fields = making.sign(Request("POST", URL, [JSON_FIELD], body)).fields
    assert fields[0][0] == "Content-Digest"
    request = Request("POST", URL, [JSON_FIELD, *fields], body)
    assert '"content-digest"' in verifier(profiles.ADCP_3_1).verify(request).components


def test_webhook_without_content_has_a_digest_of_the_empty_body():
    request = Request("POST", URL, [JSON_FIELD])
    fields = signer(profiles.ADCP_WEBHOOK).sign(request).fields
    assert fields[0][1].startswith("sha-256=:47DEQpj8HBSa")
    assert verifier(profiles.ADCP_WEBHOOK).verify(Request("POST", URL, [JSON_FIELD, *fields]))


# What a receiver would reject is not signed


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        (Request("post", URL), "the method is not an upper-case token"),
        (Request("GE T", URL), "the method is not an upper-case token"),
        (Request("GET", URL, [("a b", "v")]), "a field name is not a token"),
        (Request("GET", URL, [("a", "v\nw")]), "a field name is not a token"),
        (Request("GET", URL, [("host", "evil.example")]), "Host is not the URL's authority"),
        (Request("GET", URL, [("host", "seller.example.com:80")]), "Host is not the URL's authority"),
        (Request("GET", URL, [("host", "seller.example.com")] * 2), "more than one Host"),
        (Request("GET", URL, [(":authority", "evil.example")]), "is not the URL's authority"),
        (Request("POST", URL, [], BODY), "add exactly one to the request"),
        (Request("POST", URL, [JSON_FIELD, JSON_FIELD], BODY), "add exactly one to the request"),
        (Request("POST", URL, [("content-type", "a/b, c/d")], BODY), "Content-Type has several values"),
        (Request("POST", URL, [("content-type", 'a/b;c="d')], BODY), "Content-Type has several values"),
        (Request("POST", URL, [("content-type", "text/\xe9")], BODY), "not printable ASCII"),
    ],
)
def test_request_is_not_signed_when_the_verifier_would_reject_it(request_, fault):
    with pytest.raises(SigningError, match=fault):
        signer().sign(request_)


@pytest.mark.parametrize("url", ["", "/p", "ftp://h/", "https://h/ ", "https://h/%zz", "\ud800"])
def test_url_without_a_canonical_form_is_not_signed(url):
    for request in (Request("GET", url), Request("GET", URL, [("host", f"a b{url}")])):
        with pytest.raises(MalformedURL):
            signer().sign(request)


def test_request_is_not_signed_when_a_covered_field_is_absent():
    with pytest.raises(SigningError, match=r'a covered field is not in the message: "x-none"; correct'):
        signer(components=["x-none"]).sign(GET)


def test_request_without_a_covered_member_is_to_be_corrected():
    by_members = Signer(KeyPair.generate().signing_key(), profile=profiles.WEB_BOT_AUTH_TYPED)
    with pytest.raises(SigningError, match=r'"signature-agent";key="sig1"; correct the message before it is signed'):
        by_members.sign(Request("GET", URL, [("Signature-Agent", '"https://bot.example"')]))


@pytest.mark.parametrize("label", ["*", "a", "z", "*a", "a*", "a_", "a.", "a-", "a09z"])
def test_label_is_any_dictionary_key(label):
    assert dict(signer().sign(GET, label=label))["Signature"].startswith(f"{label}=:")


@pytest.mark.parametrize("label", ["", "Sig1", "1sig", "sig 1", "sig1,", "sïg", "sig1\n", "-"])
def test_label_is_rejected_when_it_is_not_a_dictionary_key(label):
    with pytest.raises(SigningError, match=r"^label: "):
        signer().sign(GET, label=label)


@pytest.mark.parametrize(
    "nonce", ["", "A" * 21, "A" * 25, "A" * 22 + "=", "A" * 22 + "+", "é" * 22, "A" * 22 + "\n", 'A"' * 20]
)
def test_nonce_is_not_signed_when_the_verifier_would_reject_it(nonce):
    with pytest.raises(SigningError, match=r"^nonce: "):
        signer().sign(GET, nonce=nonce)
    with pytest.raises(SigningError, match=r"^nonces: what the function returns must"):
        signer(nonces=lambda: nonce).sign(GET)


@pytest.mark.parametrize(
    ("created", "expires"),
    [
        (NOW, NOW),
        (NOW, NOW - 1),
        (NOW, NOW + 301),
        (10**15, None),
        (10**15 - 1, None),
        (-(10**15), None),
        (1.5, None),
        (True, None),
        (NOW, NOW + 0.5),
        ("1", None),
    ],
)
def test_times_are_not_signed_when_the_verifier_would_reject_them(created, expires):
    with pytest.raises(SigningError, match=r"^(created|expires): "):
        signer().sign(GET, created=created, expires=expires)


# Sizes

MANY_NAMES = [f"x{number}" for number in range(33)]


def with_fields(names):
    return Request("GET", URL, [(name, "1") for name in names])


SIZES = {
    "a path": (lambda size: Request("GET", f"https://h/{'a' * (size - 10)}"), 9000),
    "a query": (lambda size: Request("GET", f"https://h/?{'a' * (size - 11)}"), 9000),
    "a method": (lambda size: Request("A" * size, URL), 64),
    "fields": (lambda size: with_fields(["x"] * (size - 3)), 100),
    "names": (lambda size: with_fields(["n" * (size - 28)]), 16_384),
    "a Content-Type": (lambda size: Request("POST", URL, [("Content-Type", "a/" + "b" * (size - 2))], BODY), 4096),
}


@pytest.mark.parametrize("name", SIZES)
def test_what_is_larger_than_a_verifier_reads_is_not_signed_and_the_bound_is_named(name):
    made, most = SIZES[name]
    request = made(most)
    verifier().verify(Request(request.method, request.url, [*request.fields, *signer().sign(request)], request.body))
    with pytest.raises((SigningError, MalformedURL), match=f"{most:,}"):
        signer().sign(made(most + 1))


OTHER = [("Signature-Input", 'a=("x")'), ("Signature", "a=:AAAA:")]


@pytest.mark.parametrize(
    ("request_", "options", "how"),
    [
        (Request("GET", URL, [("x", "v" * 65_536)]), {"components": ["x"]}, {}),
        (with_fields(MANY_NAMES), {"components": MANY_NAMES}, {}),
        (GET, {"key": SigningKey.from_jwk({**PRIVATE, "kid": "k" * 16_384})}, {}),
        (GET, {"nonces": lambda: "A" * 17_000}, {}),
        (GET, {}, {"label": "l" * 4096}),
        (Request("GET", URL, [("Signature-Input", f'a=();p="{"v" * 5000}"'), ("Signature", "a=:AAAA:")]), {}, {}),
        (Request("GET", URL, [OTHER[0], ("Signature", f"a=:{'A' * 4092}:")]), {}, {}),
        (Request("GET", URL, [OTHER[0], ("Signature", f"a=:{'A' * 4000}:")]), {}, {}),
    ],
)
def test_signature_that_no_verifier_reads_beside_the_others_is_not_made(request_, options, how):
    with pytest.raises(SigningError, match=r"[0-9,]+ .*at most [0-9,]+"):
        signer(**options).sign(request_, **how)


PRINTABLE = [chr(code) for code in range(0x20, 0x7F)]
IN_TARGET = [*PRINTABLE, *(f"%{ord(one):02x}" for one in PRINTABLE), "%", "%z", "%zz", "%7z"]
NOT_IN_A_URI = {*' "<>[]\\^`{|}', "%", "%z", "%zz", "%7z"}  # RFC 3986, in a path or a query


@pytest.mark.parametrize("place", ["/a{}b", "/{}", "/a/{}/b", "/?{}", "/p?q={}b", "/p?{}&x={}"])
@pytest.mark.parametrize("profile", [profiles.ADCP_3_2, profiles.ACTIVITYPUB], ids=lambda profile: profile.name)
def test_target_is_signed_if_and_only_if_clients_send_it_as_it_is_and_a_middleware_reads_it(place, profile):
    key = key_pair("rsa-v1_5-sha256").signing_key() if profile is profiles.ACTIVITYPUB else KEY
    made = Signer(key, profile=profile)
    for one in IN_TARGET:
        try:
            signed = made.sign(Request("GET", f"https://h{place.replace('{}', one)}"))
        except MalformedURL:
            assert one in NOT_IN_A_URI or (one == "%2e" and "/{}" in place)
            continue
        assert one not in NOT_IN_A_URI
        target = signed.target_uri.removeprefix("https://h")
        RequestTarget.parse(target.encode())
        # HTTP libraries remove dot segments, and write some escapes in another way.
        if "/{}" not in place and not one.startswith("%"):
            assert httpx.URL(f"https://h{target}").raw_path.decode() == target
            assert requote_uri(target) == urllib3.util.parse_url(target).request_uri == target


# Construction


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"key": PRIVATE}, "key"),
        ({"key": None}, "key"),
        ({"profile": "adcp-3.2"}, "profile"),
        ({"profile": profiles.ADCP_3_2.derive(algorithms=frozenset({"ecdsa-p256-sha256"}))}, "key"),
        ({"key": SigningKey.from_jwk({**PRIVATE, "adcp_use": "governance-signing"})}, "key"),
        ({"profile": profiles.WEB_BOT_AUTH}, "key: profile web-bot-auth takes the thumbprint of a key as its keyid"),
        ({"components": "abc"}, "components"),
        ({"components": ["X-A"]}, "components"),
        ({"components": ["@query"]}, "components"),
        ({"components": ["x a"]}, "components"),
        ({"components": [""]}, "components"),
        (
            {
                "components": ["content-digest"],
                "profile": NO_DIGEST,
            },
            "components",
        ),
    ],
)
def test_argument_of_the_wrong_type_is_rejected_at_construction(options, option):
    arguments = {"key": KEY, "profile": profiles.ADCP_3_2, **options}
    with pytest.raises(ConfigurationError, match=f"^{option}"):
        Signer(arguments.pop("key"), **arguments)


def test_content_that_is_read_in_chunks_is_signed_by_its_digest():
    signing = signer(SHA_512)
    builder = signing.digest_builder()
    for chunk in (BODY[:5], b"", BODY[5:]):
        builder.update(chunk)
    unread = Request("POST", URL, [JSON_FIELD], has_body=True)
    signed = signing.sign(unread, nonce=NONCE, digest=builder.value())
    assert signed == signing.sign(Request("POST", URL, [JSON_FIELD], BODY), nonce=NONCE)


def test_digest_is_added_only_if_it_is_covered():
    assert len(signer().sign(Request("GET", URL), digest="sha-256=:AAAA:").fields) == 2


def test_second_content_digest_is_not_signed():
    request = Request("POST", URL, [JSON_FIELD, ("Content-Digest", "sha-256=:AAAA:")], has_body=True)
    with pytest.raises(SigningError, match="digest: the request has a Content-Digest already"):
        signer().sign(request, digest="sha-256=:AAAA:")

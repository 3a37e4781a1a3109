from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from tests.activitypub.actors import GET, KEYID, NOW, POST, pair, sign_by_draft, signing_key, verifier, with_fields
from tests.properties.strategies import bodies, fields, methods, urls

from undersigned import (
    ConfigurationError,
    KeyPair,
    MalformedURL,
    Request,
    SignatureError,
    SigningError,
    SigningKey,
)
from undersigned.cavage import CavageSigner


def test_signer_writes_date_digest_and_signature():
    made = CavageSigner(signing_key(), clock=lambda: NOW).sign(POST)
    assert [name for name, _ in made] == ["Date", "Digest", "Signature"]
    assert made.components == ("(request-target)", "host", "date", "digest")
    assert made.target_uri == POST.url
    named = f'keyId="{KEYID}",algorithm="rsa-sha256",headers="(request-target) host date digest",signature="'
    assert dict(made)["Signature"].startswith(named)
    assert [name for name, _ in CavageSigner(signing_key()).sign(GET)] == ["Date", "Signature"]


def test_signer_writes_its_own_date_and_digest_in_place_of_given_ones():
    given_ones = [("Date", "yesterday"), ("Digest", "md5=AA=="), ("Host", "INBOX.example:443")]
    made = CavageSigner(signing_key(), clock=lambda: NOW).sign(Request("POST", POST.url, given_ones, POST.body))
    assert "yesterday" not in made.signature_base
    assert "md5" not in made.signature_base
    assert "\nhost: INBOX.example:443\n" in made.signature_base


def test_signer_signs_further_fields_and_spells_hs2019():
    request = sign_by_draft(POST, components=["content-type", "host", "content-type"], algorithm="hs2019")
    assert verifier().verify(request).components == ("(request-target)", "host", "date", "digest", "content-type")
    assert 'algorithm="hs2019"' in request.fields.combined["signature"]


def test_signer_takes_the_digest_of_content_that_is_read_in_chunks():
    signer = CavageSigner(signing_key(), clock=lambda: NOW)
    builder = signer.digest_builder()
    builder.update(POST.body)
    unread = Request("POST", POST.url, POST.fields, has_body=True)
    assert verifier().verify(with_fields(POST, *signer.sign(unread, digest=builder.value())))


def test_key_that_is_awaited_signs_too():
    class Remote:
        keyid, algorithm = KEYID, "rsa-v1_5-sha256"

        async def sign(self, base):
            return signing_key().sign(base)

    signer = CavageSigner(Remote(), clock=lambda: NOW)
    assert verifier().verify(with_fields(POST, *asyncio.run(signer.async_sign(POST))))
    with pytest.raises(ConfigurationError, match=r"^key: its sign method is async"):
        signer.sign(POST)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"key": KeyPair.generate("ed25519").signing_key()}, r"^key: .* pass an RSA key"),
        ({"key": KeyPair.generate("rsa-pss-sha512").signing_key()}, r"^key: .* pass an RSA key"),
        ({"key": None}, r"^key: pass a SigningKey"),
        ({"key": SigningKey.from_jwk({**pair().private, "kid": 'a"b'})}, r"^key: its keyid must not have a quote"),
        ({"algorithm": "rsa-sha512"}, r"^algorithm: give one of hs2019, rsa-sha256"),
        ({"components": "host"}, r"^components: list field names"),
        ({"components": ["Host"]}, r"^components: list field names"),
        ({"components": ["date"]}, r"^components: list field names"),
        ({"clock": 1}, r"^clock: pass a function"),
    ],
)
def test_wrong_option_is_a_configuration_error(options, fault):
    key = options.pop("key", signing_key())
    with pytest.raises(ConfigurationError, match=fault):
        CavageSigner(key, **options)


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        (Request("GET", GET.url, [("Host", "other.example")]), "Host is not the URL's authority"),
        (Request("GET", GET.url, [("X", "a\nb")]), "CR, LF or NUL"),
        (Request("GET", GET.url, [("X", "é")]), "not printable ASCII"),
        (Request("GET", GET.url), "a covered field is not in the message"),
        (Request("A" * 65, GET.url, [("X", "a")]), "the method has 65 characters"),
        (Request("A B", GET.url, [("X", "a")]), "the method is not a token"),
    ],
)
def test_request_that_cannot_be_signed_says_why(request_, fault):
    with pytest.raises(SigningError, match=fault):
        CavageSigner(signing_key(), components=["x"]).sign(request_)


@pytest.mark.parametrize(
    ("request_", "kid"),
    [
        (Request("GET", f"https://inbox.example/{'x' * 9000}", [("X", "a")]), "k"),
        (Request("GET", GET.url, [("X", "x" * 65_536)]), "k"),
        (Request("GET", GET.url, [("X", "a")]), "k" * 4000),
    ],
)
def test_what_is_larger_than_a_verifier_reads_is_not_signed(request_, kid):
    key = SigningKey.from_jwk({**pair().private, "kid": kid})
    with pytest.raises((SigningError, MalformedURL), match="at most"):
        CavageSigner(key, components=["x"]).sign(request_)


def test_method_of_as_many_characters_as_a_middleware_accepts_is_verified():
    assert verifier().verify(sign_by_draft(Request("A" * 64, POST.url, POST.fields, POST.body))).method == "A" * 64


@given(methods, urls(), fields, bodies)
def test_what_is_signed_is_verified(method, url, given_fields, body):
    unsigned = Request(method, url, given_fields, body)
    try:
        request = sign_by_draft(unsigned)
    except (MalformedURL, SigningError):
        return
    if method != method.upper():
        with pytest.raises(SignatureError, match=r"^signature_header_malformed$"):
            verifier().verify(request)
        return
    verified = verifier().verify(request)
    assert (verified.method, verified.keyid) == (method, KEYID)
    assert bytes(verified.content) == (body if request.has_body else b"")

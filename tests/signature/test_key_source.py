from __future__ import annotations

import json

import pytest
from tests.keys import EC_PUBLIC, OTHER_PRIVATE, OTHER_PUBLIC, PUBLIC, b64url, lookup

from undersigned import (
    AsyncVerifier,
    ConfigurationError,
    KeySet,
    MemoryReplayStore,
    VerificationKey,
    Verifier,
    profiles,
)
from undersigned.discovery import JWKSFile
from undersigned.message import HeaderFields


def test_key_set_finds_keys_by_keyid():
    keys = KeySet.from_jwks({"keys": [PUBLIC, EC_PUBLIC, {"kty": "oct"}, {**OTHER_PUBLIC, "kid": 5}]}, owner="buyer")
    assert sorted(keys.keys) == ["buyer-ed25519", "buyer-es256"]
    [key] = keys.find(lookup("buyer-es256"))
    assert (key.algorithm, key.owner) == ("ecdsa-p256-sha256", "buyer")
    assert keys.find(lookup("BUYER-ES256")) == ()
    assert keys.find(lookup("")) == ()
    assert keys.blocking is False


@pytest.mark.parametrize("jwks", [{}, {"keys": None}, {"keys": {}}, [], None, "keys", {"keys": "ab"}])
def test_key_set_rejects_what_is_not_a_jwk_set(jwks):
    with pytest.raises(ConfigurationError, match='a JWK set is a JSON object with a "keys" array'):
        KeySet.from_jwks(jwks)


def test_key_set_rejects_a_member_that_is_not_an_object():
    with pytest.raises(ConfigurationError, match="must be a JSON object"):
        KeySet.from_jwks({"keys": ["key"]})


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"keys": [PUBLIC]}, "make a key set of a JWK set with KeySet.from_jwks"),
        ({"buyer-ed25519": PUBLIC}, "every value must be a VerificationKey"),
        ({}, "the key set is empty"),
        ({"k": []}, "the key set is empty"),
        ([VerificationKey.from_jwk(PUBLIC)], "every value must be a VerificationKey"),
    ],
)
def test_key_set_rejects_what_is_not_keys_by_keyid(keys, told):
    with pytest.raises(ConfigurationError, match=f"^keys: .*{told}"):
        KeySet(keys)


def test_key_may_have_the_keyid_keys():
    assert KeySet.of(VerificationKey.from_jwk({**PUBLIC, "kid": "keys"})).find(lookup("keys"))


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ([], "the key set is empty"),
        ([{name: value for name, value in PUBLIC.items() if name != "kid"}], "no key of the JWK set has a kid"),
        ([{**PUBLIC, "kid": 5}], "no key of the JWK set has a kid"),
        ([PUBLIC, {**OTHER_PRIVATE, "kid": "own"}], "the private member 'd'"),
        ([PUBLIC, {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"}], "the private member 'k'"),
        ([PUBLIC, {"kty": "RSA", "p": "AQ"}], "the private member 'p'"),
    ],
)
def test_jwk_set_without_a_key_to_verify_with_or_with_a_private_one_is_rejected(members, told):
    with pytest.raises(ConfigurationError, match=f"^keys: .*{told}") as caught:
        KeySet.from_jwks({"keys": members})
    assert str(OTHER_PRIVATE["d"]) not in str(caught.value)


RSA = {"kty": "RSA", "kid": "rsa", "n": b64url(b"\xc7" * 256), "e": "AQAB"}


@pytest.mark.parametrize(
    ("member", "told"),
    [
        (RSA, "'rsa': the profile accepts ecdsa-p256-sha256, ed25519 only"),
        ({**PUBLIC, "adcp_use": "webhook-signing"}, "the JWK's adcp_use does not include request-signing"),
        ({**PUBLIC, "use": "enc"}, "the JWK's use is not sig"),
        ({**PUBLIC, "x": "AA"}, "x is not 32 bytes"),
    ],
)
def test_verifier_rejects_a_key_set_without_a_key_for_its_profile(member, told):
    keys = KeySet.from_jwks({"keys": [member]})
    for made in (Verifier, AsyncVerifier):
        with pytest.raises(ConfigurationError) as caught:
            made(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
        start = f"keys: no key can verify a signature of the profile adcp-3.2: {member['kid']!r}: "
        assert str(caught.value).startswith(start)
        assert told in str(caught.value)
    assert Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks({"keys": [member, EC_PUBLIC]}), replay=MemoryReplayStore())


def test_rsa_keys_are_accepted_by_a_profile_that_verifies_with_them():
    keys = KeySet.from_jwks({"keys": [RSA]})
    assert Verifier(profiles.ACTIVITYPUB, keys=keys, replay=MemoryReplayStore())


@pytest.mark.parametrize(
    "jwks",
    [
        [PUBLIC, OTHER_PUBLIC],
        [PUBLIC, EC_PUBLIC],
        [PUBLIC, PUBLIC],
        [PUBLIC] * 3 + [EC_PUBLIC],
        [PUBLIC] * 4 + [EC_PUBLIC],
    ],
)
def test_every_source_reads_keys_that_share_a_kid_alike_and_the_first_four_count(jwks, tmp_path):
    jwks = {"keys": [{**jwk, "kid": "k"} for jwk in jwks]}
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps(jwks))
    expected = [VerificationKey.from_jwk(jwk).thumbprint for jwk in jwks["keys"][:4]]
    of_keys = KeySet.of(*[VerificationKey.from_jwk(jwk) for jwk in jwks["keys"]])
    for source in (KeySet.from_jwks(jwks), KeySet.from_file(path), of_keys, JWKSFile(path)):
        assert [key.thumbprint for key in source.find(lookup("k"))] == expected


def test_key_set_can_be_made_of_verification_keys():
    key = VerificationKey.from_jwk(PUBLIC)
    assert KeySet.of(key, VerificationKey.from_jwk(EC_PUBLIC)).find(lookup()) == (key,)
    with pytest.raises(ConfigurationError, match=r"^keys: the key set is empty"):
        KeySet.of()


def test_lookup_reads_the_fields_that_the_signature_covers_and_no_others():
    fields = HeaderFields([("Signature-Agent", "https://bot.example"), ("X-Agent", "https://evil.example")])
    identifiers = ('"signature-agent"', '"absent"')
    asked = lookup(components=frozenset({"signature-agent", "absent"}), identifiers=identifiers, fields=fields)
    assert asked.covered_value("signature-agent") == "https://bot.example"
    assert asked.covered_value("x-agent") is None
    assert asked.covered_value("absent") is None


@pytest.mark.parametrize(
    ("identifier", "is_covered"),
    [
        ('"ucp-agent"', True),
        ('"ucp-agent";sf', True),
        ('"ucp-agent";bs', True),
        ("ucp-agent", True),
        ('"ucp-agent";req', False),
        ('"ucp-agent";tr', False),
        ('"ucp-agent";key="version"', False),
    ],
)
def test_lookup_reads_a_field_only_if_the_signature_covers_all_of_it(identifier, is_covered):
    fields = HeaderFields([("UCP-Agent", "a=1")])
    asked = lookup(components=frozenset({"ucp-agent"}), identifiers=("@status", identifier), fields=fields)
    assert asked.covered_value("ucp-agent") == ("a=1" if is_covered else None)

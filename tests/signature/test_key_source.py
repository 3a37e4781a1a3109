from __future__ import annotations

import pytest
from tests.keys import EC_PUBLIC, OTHER_PUBLIC, PUBLIC, lookup

from undersigned import ConfigurationError, KeySet, VerificationKey
from undersigned.message.header_fields import HeaderFields


def test_key_set_finds_keys_by_keyid():
    keys = KeySet.from_jwks({"keys": [PUBLIC, EC_PUBLIC, {"kty": "oct"}, {**OTHER_PUBLIC, "kid": 5}]}, owner="buyer")
    assert sorted(keys.keys) == ["buyer-ed25519", "buyer-es256"]
    [key] = keys.find(lookup("buyer-es256"))
    assert (key.algorithm, key.owner) == ("ecdsa-p256-sha256", "buyer")
    assert keys.find(lookup("BUYER-ES256")) == ()
    assert keys.find(lookup("")) == ()
    assert keys.blocking is False


def test_key_set_keeps_an_unusable_key_with_its_error():
    [key] = KeySet.from_jwks({"keys": [{"kid": "k"}]}).find(lookup("k"))
    assert key.fault


@pytest.mark.parametrize("jwks", [{}, {"keys": None}, {"keys": {}}, [], None, "keys", {"keys": "ab"}])
def test_key_set_rejects_what_is_not_a_jwk_set(jwks):
    with pytest.raises(ConfigurationError, match='a JWK set is a JSON object with a "keys" array'):
        KeySet.from_jwks(jwks)


def test_key_set_rejects_a_member_that_is_not_an_object():
    with pytest.raises(ConfigurationError, match="must be a JSON object"):
        KeySet.from_jwks({"keys": ["key"]})


def test_key_set_rejects_two_keys_with_the_same_kid():
    with pytest.raises(ConfigurationError, match="two keys of the JWK set share the kid 'buyer-ed25519'"):
        KeySet.from_jwks({"keys": [PUBLIC, PUBLIC]})


def test_key_set_can_be_made_of_verification_keys():
    key = VerificationKey.from_jwk(PUBLIC)
    assert KeySet.of(key, VerificationKey.from_jwk(EC_PUBLIC)).find(lookup()) == (key,)
    with pytest.raises(ConfigurationError, match="share a keyid"):
        KeySet.of(key, key.owned_by("another"))


def test_lookup_reads_the_fields_that_the_signature_covers_and_no_others():
    fields = HeaderFields([("Signature-Agent", "https://bot.example"), ("X-Agent", "https://evil.example")])
    asked = lookup(components=frozenset({"signature-agent", "absent"}), fields=fields)
    assert asked.covered("signature-agent") == "https://bot.example"
    assert asked.covered("x-agent") is None
    assert asked.covered("absent") is None

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from tests.keys import EC_PRIVATE, EC_PUBLIC, PRIVATE, PUBLIC, ed25519_key, es256_key

from undersigned import ConfigurationError, KeyPair, KeySet
from undersigned.signature.rules import KeyRule

ALGORITHMS = pytest.mark.parametrize(
    "algorithm", ["ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "rsa-pss-sha512", "rsa-v1_5-sha256"]
)


@ALGORITHMS
def test_pair_signs_and_verifies_and_only_its_private_jwk_has_private_members(algorithm):
    pair = KeyPair.generate(algorithm)
    [public], [jwk] = pair.key_set(), pair.public["keys"]
    private = pair.signing_key()
    assert public.misuse(algorithm, KeyRule(purposes=frozenset({"request-signing"}), is_declared=True)) == ""
    assert (private.algorithm, private.keyid, public.thumbprint) == (algorithm, public.keyid, public.keyid)
    assert public.verifies(private.sign(b"base"), b"base")
    secrets = {name: value for name, value in pair.private.items() if name in {"d", "p", "q", "dp", "dq", "qi"}}
    assert pair.private == {**jwk, "key_ops": ["sign"], **secrets}
    assert (jwk["key_ops"], jwk["use"], jwk["adcp_use"]) == (["verify"], "sig", "request-signing")


@pytest.mark.parametrize("keyid", ["", "\u00fc", "a\nb", "\ud800"])
def test_kid_is_rejected_when_no_signature_can_contain_it(keyid):
    with pytest.raises(ConfigurationError, match=r"^keyid: "):
        KeyPair.generate("ed25519", keyid=keyid)


@pytest.mark.parametrize("algorithm", ["hmac-sha256", "", "EdDSA"])
def test_unknown_algorithm_is_rejected(algorithm):
    with pytest.raises(ConfigurationError, match=r"^algorithm: give one of ed25519, ecdsa-p256-sha256, ecdsa-p384"):
        KeyPair.generate(algorithm)


PKCS8 = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
KNOWN = pytest.mark.parametrize(
    ("key", "private", "public"), [(ed25519_key(), PRIVATE, PUBLIC), (es256_key(), EC_PRIVATE, EC_PUBLIC)]
)


@KNOWN
def test_pair_of_a_key_object_or_of_its_pem_has_the_jwks_of_the_key(key, private, public):
    plain = key.private_bytes(*PKCS8, serialization.NoEncryption())
    secret = key.private_bytes(*PKCS8, serialization.BestAvailableEncryption(b"password"))
    for pair in (
        KeyPair.from_private_key(key, keyid=public["kid"]),
        KeyPair.from_pem(plain.decode(), keyid=public["kid"]),
        KeyPair.from_pem(secret, keyid=public["kid"], password=b"password"),
    ):
        assert (pair.private, pair.public) == (private, {"keys": [public]})
    [key] = KeySet.from_jwks({"keys": [public]})
    assert KeyPair.from_pem(plain).private["kid"] == key.thumbprint

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa

from undersigned import ConfigurationError, KeyPair, KeySet, VerificationKey
from undersigned.signature.pem import is_pem, pem_jwks

PEM, INFO = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
GENERATE = {
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "ecdsa-p256-sha256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ecdsa-p384-sha384": lambda: ec.generate_private_key(ec.SECP384R1()),
}


def public_pem(key) -> bytes:
    return key.public_key().public_bytes(PEM, INFO)


@pytest.mark.parametrize("algorithm", GENERATE)
@pytest.mark.parametrize("keyid", [None, "own"])
def test_set_of_a_pem_is_the_public_set_of_its_pair(algorithm, keyid):
    key = GENERATE[algorithm]()
    assert pem_jwks(public_pem(key), keyid=keyid) == KeyPair.from_private_key(key, keyid=keyid).public


def test_rsa_key_of_a_pem_is_for_both_algorithms():
    key = rsa.generate_private_key(65537, 2048)
    jwks = pem_jwks(public_pem(key), keyid="own")
    assert KeySet.from_jwks(jwks).keys["own"][0].algorithms == {"rsa-pss-sha512", "rsa-v1_5-sha256"}
    pair = KeyPair.from_private_key(key, keyid="own", algorithm="rsa-pss-sha512")
    assert {**jwks["keys"][0], "alg": "PS512"} == pair.public["keys"][0]


def test_purposes_are_those_that_are_given():
    [key] = pem_jwks(public_pem(GENERATE["ed25519"]()), purposes=("b", "a"))["keys"]
    assert key["adcp_use"] == ["a", "b"]


@pytest.mark.parametrize("key", [ed448.Ed448PrivateKey.generate(), ec.generate_private_key(ec.SECP521R1())])
def test_key_of_another_kind_is_rejected(key):
    with pytest.raises(ConfigurationError, match="Ed25519, P-256"):
        pem_jwks(public_pem(key))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"-----BEGIN PUBLIC KEY-----\n", True),
        (b"Bag Attributes\n-----BEGIN PRIVATE KEY-----\n", True),
        (b' {"x": "-----BEGIN PUBLIC KEY-----"}', False),
        (b'["-----BEGIN "]', False),
        (b"", False),
    ],
)
def test_text_is_pem_when_it_has_a_block_and_is_not_json(text, expected):
    assert is_pem(text) is expected


@pytest.mark.parametrize("algorithm", GENERATE)
def test_key_of_a_pem_has_the_thumbprint_of_its_jwk(algorithm):
    key = GENERATE[algorithm]()
    jwk = KeyPair.from_private_key(key).public["keys"][0]
    made = VerificationKey.from_pem(public_pem(key), keyid=jwk["kid"])
    assert made.thumbprint == VerificationKey.from_jwk(jwk).thumbprint == jwk["kid"]

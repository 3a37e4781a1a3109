from __future__ import annotations

import base64
import contextlib
import json
import sys
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given
from hypothesis.strategies import integers
from tests.signature.edwards import ORDER, SMALL, encode, sign

from undersigned import VerificationKey
from undersigned.signature import ed25519
from undersigned.signature.ed25519 import SMALL_ORDER, Ed25519, has_sodium, is_of_prime_order, library

WYCHEPROOF = json.loads((Path(__file__).parents[1] / "vectors/wycheproof/ed25519_test.json").read_text("utf-8"))
CASES = [
    pytest.param(bytes.fromhex(group["publicKey"]["pk"]), test, id=f"{test['tcId']}")
    for group in WYCHEPROOF["testGroups"]
    for test in group["tests"]
]
SECRET, NONCE = 2**250 + 7, 2**200 + 9
MESSAGE = b"a message"


def verifies(public: bytes, signature: bytes, message: bytes) -> bool:
    """What a published key says of a signature."""
    x = base64.urlsafe_b64encode(public).rstrip(b"=").decode()
    key = VerificationKey.from_jwk({"kid": "k", "kty": "OKP", "crv": "Ed25519", "x": x, "alg": "EdDSA"})
    return key.verifies(signature, message)


@pytest.fixture
def by_openssl(monkeypatch):
    monkeypatch.setattr(ed25519, "has_sodium", lambda: False)


@pytest.mark.parametrize(("public", "test"), CASES)
@pytest.mark.usefixtures("by_openssl")
def test_openssl_answers_as_wycheproof_expects(public, test):
    answer = verifies(public, bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"]))
    assert answer is (test["result"] == "valid")


def test_the_encodings_of_small_order_are_those_of_the_eight_points():
    assert frozenset(map(encode, SMALL)) == SMALL_ORDER


@pytest.mark.parametrize("r", SMALL)
@pytest.mark.usefixtures("by_openssl")
def test_signature_with_an_r_of_small_order_is_invalid(r):
    assert not verifies(*sign(SECRET, 0, MESSAGE, r=r), MESSAGE)


@pytest.mark.usefixtures("by_openssl")
def test_neutral_r_would_be_valid_without_our_check():
    public, signature = sign(SECRET, 0, MESSAGE)
    Ed25519PublicKey.from_public_bytes(public).verify(signature, MESSAGE)
    with pytest.raises(InvalidSignature):
        Ed25519(public_key=Ed25519PublicKey.from_public_bytes(public)).verify(signature, MESSAGE)


@pytest.mark.usefixtures("by_openssl")
def test_signature_with_a_scalar_beyond_the_order_is_invalid():
    assert verifies(*sign(SECRET, NONCE, MESSAGE), MESSAGE)
    assert not verifies(*sign(SECRET, NONCE, MESSAGE, more=1), MESSAGE)
    assert ORDER > 2**252


@pytest.mark.parametrize("small", SMALL[1:])
@pytest.mark.usefixtures("by_openssl")
def test_signature_is_invalid_when_its_key_has_a_part_of_small_order(small):
    assert not any(verifies(*sign(SECRET, nonce, MESSAGE, key=small), MESSAGE) for nonce in range(1, 20))


@pytest.mark.usefixtures("by_openssl")
def test_some_signatures_by_a_mixed_key_would_be_valid_without_our_check():
    made = [sign(SECRET, nonce, MESSAGE, key=SMALL[4]) for nonce in range(1, 20)]
    for public, signature in made:
        with contextlib.suppress(InvalidSignature):
            return Ed25519PublicKey.from_public_bytes(public).verify(signature, MESSAGE)
    pytest.fail("OpenSSL rejects all of them")


@given(secret=integers(1, ORDER - 1))
def test_key_of_an_honest_owner_is_of_prime_order(secret):
    public = Ed25519PrivateKey.from_private_bytes(secret.to_bytes(32, "little")).public_key().public_bytes_raw()
    assert is_of_prime_order(public)


def test_object_without_the_key_that_is_asked_for_does_nothing():
    key = Ed25519PrivateKey.generate()
    with pytest.raises(TypeError, match="no key for that"):
        Ed25519(public_key=key.public_key()).sign(MESSAGE)
    with pytest.raises(TypeError, match="no key for that"):
        Ed25519(private_key=key).verify(b"r" * 64, MESSAGE)


def test_openssl_is_named_and_used_when_pynacl_is_missing(monkeypatch):
    key = Ed25519PrivateKey.generate()
    for name in ("nacl.bindings", "nacl.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    has_sodium.cache_clear()
    try:
        assert library() == "OpenSSL"
        made = Ed25519(private_key=key).sign(MESSAGE)
        assert made == key.sign(MESSAGE)
        Ed25519(public_key=key.public_key()).verify(made, MESSAGE)
    finally:
        has_sodium.cache_clear()

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from tests.signature.edwards import ORDER, SMALL, encode, sign

from undersigned import SigningKey, VerificationKey
from undersigned.signature import ed25519

WYCHEPROOF = json.loads((Path(__file__).parents[1] / "vectors/wycheproof/ed25519_test.json").read_text("utf-8"))
CASES = [
    pytest.param(bytes.fromhex(group["publicKey"]["pk"]), test, id=f"{test['tcId']}")
    for group in WYCHEPROOF["testGroups"]
    for test in group["tests"]
]
SECRET, NONCE = 2**250 + 7, 2**200 + 9
MESSAGE = b"a message"


def is_accepted(test) -> bool:
    """What both libraries say of a case: only its owner can have made a key with a part of small order."""
    return test["result"] == "valid" or (test["result"], test["flags"]) == ("acceptable", ["MixedOrderPublicKey"])


def published(public: bytes) -> VerificationKey:
    x = base64.urlsafe_b64encode(public).rstrip(b"=").decode()
    return VerificationKey.from_jwk({"kid": "k", "kty": "OKP", "crv": "Ed25519", "x": x, "alg": "EdDSA"})


def verifies(public: bytes, signature: bytes, message: bytes) -> bool:
    """What a published key says of a signature."""
    return published(public).verifies(signature, message)


@pytest.fixture
def by_openssl(monkeypatch):
    monkeypatch.setattr(ed25519, "has_sodium", lambda: False)


@pytest.mark.parametrize(("public", "test"), CASES)
@pytest.mark.usefixtures("by_openssl")
def test_openssl_answers_as_wycheproof_expects(public, test):
    answer = verifies(public, bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"]))
    assert answer is is_accepted(test)


def test_the_points_of_small_order_are_known_by_their_encodings():
    assert all("small order" in published(encode(point)).fault for point in SMALL)


@pytest.mark.parametrize("r", SMALL)
@pytest.mark.usefixtures("by_openssl")
def test_signature_with_an_r_of_small_order_is_invalid(r):
    assert not verifies(*sign(SECRET, 0, MESSAGE, r=r), MESSAGE)


@pytest.mark.usefixtures("by_openssl")
def test_neutral_r_would_be_valid_without_our_check():
    public, signature = sign(SECRET, 0, MESSAGE)
    Ed25519PublicKey.from_public_bytes(public).verify(signature, MESSAGE)
    assert not verifies(public, signature, MESSAGE)


@pytest.mark.usefixtures("by_openssl")
def test_signature_with_a_scalar_beyond_the_order_is_invalid():
    assert verifies(*sign(SECRET, NONCE, MESSAGE), MESSAGE)
    assert not verifies(*sign(SECRET, NONCE, MESSAGE, more=1), MESSAGE)
    assert ORDER > 2**252


def test_openssl_is_named_and_used_when_pynacl_is_missing(monkeypatch):
    key = Ed25519PrivateKey.generate()
    for name in ("nacl.bindings", "nacl.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    ed25519.has_sodium.cache_clear()
    try:
        assert ed25519.library() == "OpenSSL"
        made = SigningKey.from_private_key(key, keyid="k").sign(MESSAGE)
        assert made == key.sign(MESSAGE)
        assert VerificationKey.from_public_key(key.public_key(), keyid="k").verifies(made, MESSAGE)
    finally:
        ed25519.has_sodium.cache_clear()

from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from tests.keys import EC_PRIVATE, EC_PUBLIC, OTHER_PRIVATE, OTHER_PUBLIC, PRIVATE, PUBLIC, b64url

from undersigned import ConfigurationError, SigningKey, VerificationKey
from undersigned.signature.rules import KeyRule

PAIRS = pytest.mark.parametrize(("private", "public"), [(PRIVATE, PUBLIC), (EC_PRIVATE, EC_PUBLIC)])
SIGNING = KeyRule(purposes=frozenset({"request-signing"}), is_declared=True)
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
UNNAMED = VerificationKey.from_jwk({"kid": "a JWK of no kind"}).fault


@PAIRS
@pytest.mark.parametrize("secret", ["its own", "", None])
def test_jwk_with_a_private_key_is_rejected_as_a_verification_key(private, public, secret):
    key = VerificationKey.from_jwk({**public, "d": private["d"] if secret == "its own" else secret})
    assert key.fault == "the JWK has a private key: publish it without d and all other private members"
    assert not key.verifies(SigningKey.from_jwk(private).sign(b"base"), b"base")
    assert str(private["d"]) not in repr(key)


@PAIRS
@pytest.mark.parametrize("length", [0, 1, 31, 32, 63, 65, 72, 96, 128, 10_000])
@pytest.mark.parametrize("octet", [0, 0xFF])
def test_verification_is_false_for_bytes_of_any_length(private, public, length, octet):
    del private
    assert not VerificationKey.from_jwk(public).verifies(bytes([octet]) * length, b"base")


@pytest.mark.parametrize("r", [0, 1, ORDER, ORDER + 1, 2**256 - 1])
@pytest.mark.parametrize("s", [0, 1, ORDER, 2**256 - 1])
def test_ecdsa_signature_with_numbers_out_of_range_is_invalid(r, s):
    signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    assert not VerificationKey.from_jwk(EC_PUBLIC).verifies(signature, b"base")


def test_ecdsa_signature_is_r_and_s_and_not_der():
    private = ec.derive_private_key(int.from_bytes(bytes([1]) * 32, "big"), ec.SECP256R1())
    der = private.sign(b"base", ec.ECDSA(hashes.SHA256()))
    r, s = decode_dss_signature(der)
    key = VerificationKey.from_jwk(EC_PUBLIC)
    assert not key.verifies(der, b"base")
    assert key.verifies(r.to_bytes(32, "big") + s.to_bytes(32, "big"), b"base")
    assert len(SigningKey.from_jwk(EC_PRIVATE).sign(b"base")) == 64


def test_key_has_the_purpose_of_its_jwk():
    key = VerificationKey.from_jwk(PUBLIC)
    assert (key.keyid, key.algorithm, key.use, key.fault) == ("buyer-ed25519", "ed25519", "sig", "")
    assert key.operations == {"verify"}
    assert key.purposes == SIGNING.purposes
    for change in ({}, {"alg": "Ed25519"}, {"adcp_use": ["governance-signing", "request-signing", 1]}):
        assert VerificationKey.from_jwk({**PUBLIC, **change}).misuse("ed25519", SIGNING) == ""


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"use": "enc"}, "the JWK's use is not sig"),
        ({"use": None}, "the JWK's use is not sig"),
        ({"use": ["sig"]}, "the JWK's use is not sig"),
        ({"key_ops": ["sign"]}, "the JWK's key_ops does not include verify"),
        ({"key_ops": []}, "the JWK's key_ops does not include verify"),
        ({"key_ops": None}, "the JWK's key_ops does not include verify"),
        ({"key_ops": {"verify": True}}, "the JWK's key_ops does not include verify"),
        ({"key_ops": [["verify"]]}, "the JWK's key_ops does not include verify"),
        ({"adcp_use": "governance-signing"}, "the JWK's adcp_use does not include request-signing"),
        ({"adcp_use": None}, "the JWK's adcp_use does not include request-signing"),
        ({"adcp_use": "request-signing "}, "the JWK's adcp_use does not include request-signing"),
        (
            {"use": None, "key_ops": None, "adcp_use": None},
            (
                "the JWK's use is not sig; the JWK's key_ops does not include verify; "
                "the JWK's adcp_use does not include request-signing"
            ),
        ),
        ({"alg": "ES256"}, UNNAMED),
        ({"crv": "X25519"}, UNNAMED),
        ({"kty": "oct"}, UNNAMED),
        ({"alg": None}, "the JWK has no registered alg: expected EdDSA"),
        ({"alg": ["EdDSA"]}, UNNAMED),
        ({"alg": "none"}, UNNAMED),
        ({"x": None}, "x is absent or not a string"),
        ({"x": 5}, "x is absent or not a string"),
        ({"x": ""}, "x is not 32 bytes"),
        ({"x": "AAAA"}, "x is not 32 bytes"),
        ({"x": "A"}, "x is not Base64url"),
        ({"x": "é" * 43}, "x is not Base64url"),
        ({"x": "\ud800"}, "x is not Base64url"),
        ({"x": "!" * 43}, "x is not Base64url"),
        ({"x": f" {PUBLIC['x']}"}, "x is not Base64url"),
    ],
)
def test_error_for_an_unsuitable_key_gives_the_reason_and_no_key_material(change, fault):
    key = VerificationKey.from_jwk({**PUBLIC, **change})
    assert key.misuse("ed25519", SIGNING) == fault
    assert str(PUBLIC["x"]) not in repr(key)


def test_key_is_unusable_when_its_jwk_names_another_algorithm():
    assert VerificationKey.from_jwk(EC_PUBLIC).misuse("ed25519", SIGNING) == (
        "the JWK's algorithm is not the signature's alg"
    )


def test_point_off_the_curve_is_rejected():
    key = VerificationKey.from_jwk({**EC_PUBLIC, "y": b64url(bytes(31) + b"\1")})
    assert key.fault == "x and y are not a point of P-256"
    assert not key.verifies(SigningKey.from_jwk(EC_PRIVATE).sign(b"base"), b"base")


SMALL_ORDER = [
    *("00" * 32, "00" * 31 + "80", "01" + "00" * 31, "ec" + "ff" * 30 + "7f"),
    *(
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ),
    *(
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    ),
    # The two that have x = 0, with the sign bit all the same.
    *("01" + "00" * 30 + "80", "ec" + "ff" * 31),
]


@pytest.mark.parametrize("encoded", SMALL_ORDER)
def test_point_of_small_order_is_rejected(encoded):
    octets = bytes.fromhex(encoded)
    key = VerificationKey.from_jwk({**PUBLIC, "x": b64url(octets)})
    assert key.fault == "x is a point of small order, for which anyone can make signatures"
    assert not any(key.verifies(octets + bytes(32), f"base {at}".encode()) for at in range(64))


@pytest.mark.parametrize("encoded", ["ed" + "ff" * 30 + "7f", "ed" + "ff" * 31, "f6" + "ff" * 30 + "7f", "ff" * 32])
def test_non_canonical_encoding_of_a_point_is_rejected(encoded):
    key = VerificationKey.from_jwk({**PUBLIC, "x": b64url(bytes.fromhex(encoded))})
    assert key.fault == "x is not the canonical encoding of a point of Ed25519"


def test_octets_that_are_no_point_verify_nothing():
    # Half of all octets are no point of the curve.
    for number in range(64):
        octets = hashlib.sha256(bytes([number])).digest()
        key = VerificationKey.from_jwk({**PUBLIC, "x": b64url(octets)})
        assert not key.verifies(octets + bytes(32), b"base")
        assert not key.verifies(SigningKey.from_jwk(PRIVATE).sign(b"base"), b"base")


def test_every_real_key_is_accepted():
    keys = [ed25519.Ed25519PrivateKey.from_private_bytes(bytes([at]) * 32).public_key() for at in range(200)]
    assert {VerificationKey.from_public_key(key, keyid="k").fault for key in keys} == {""}


@pytest.mark.parametrize("jwk", [{}, {**PUBLIC, "kid": None}, {**PUBLIC, "kid": 5}, [], None, "kid"])
def test_key_without_a_keyid_is_rejected(jwk):
    with pytest.raises(ConfigurationError, match="kid"):
        VerificationKey.from_jwk(jwk)


def test_keys_with_the_same_keyid_are_not_equal():
    assert VerificationKey.from_jwk(PUBLIC) != VerificationKey.from_jwk({**PUBLIC, "x": OTHER_PUBLIC["x"]})
    assert SigningKey.from_jwk(PRIVATE) != SigningKey.from_jwk({**OTHER_PRIVATE, "kid": PRIVATE["kid"]})


@pytest.mark.parametrize(
    ("jwk", "fault"),
    [
        ({**PRIVATE, "kid": None}, "kid of printable ASCII"),
        ({**PRIVATE, "kid": ""}, "kid of printable ASCII"),
        ({**PRIVATE, "kid": "é"}, "kid of printable ASCII"),
        ({**PRIVATE, "kid": "a\n"}, "kid of printable ASCII"),
        ({**PRIVATE, "kid": 7}, "kid of printable ASCII"),
        ({**PRIVATE, "d": None}, "d is absent or not a string"),
        (PUBLIC, "d is absent or not a string"),
        (PUBLIC, "it has no private member: give the private JWK, such as keys/private.jwk.json"),
        ({"keys": [PRIVATE]}, "the signing JWK is a JWK set, which is for verifiers: give the private JWK"),
        (EC_PUBLIC, "d is absent or not a string"),
        ({**PRIVATE, "d": "AAAA"}, "d is not 32 bytes"),
        ({**PRIVATE, "d": "*"}, "d is not Base64url"),
        ({**PRIVATE, "alg": "HS256"}, "kty, crv and alg must agree"),
        ({**PRIVATE, "x": OTHER_PUBLIC["x"]}, "the public members do not belong to d"),
        ({**PRIVATE, "x": 1}, "x is absent or not a string"),
        ({**EC_PRIVATE, "y": EC_PUBLIC["x"]}, "the public members do not belong to d"),
        ({**EC_PRIVATE, "y": None}, "y is absent or not a string"),
        ({**EC_PRIVATE, "d": b64url(bytes(32))}, "d is not a private key of P-256"),
        ({**EC_PRIVATE, "d": b64url(ORDER.to_bytes(32, "big"))}, "d is not a private key of P-256"),
        ([], "JSON object"),
        (None, "JSON object"),
        ("jwk", "JSON object"),
    ],
)
def test_unusable_private_jwk_is_rejected_without_quoting_its_values(jwk, fault):
    with pytest.raises(ConfigurationError, match=fault) as caught:
        SigningKey.from_jwk(jwk)
    for private in (PRIVATE, EC_PRIVATE):
        assert str(private["d"]) not in str(caught.value)
        assert str(private["x"]) not in str(caught.value)


@PAIRS
def test_private_jwk_may_lack_its_public_members(private, public):
    bare = {name: value for name, value in private.items() if name not in {"x", "y", "adcp_use"}}
    key = SigningKey.from_jwk(bare)
    assert key.purposes == frozenset()
    assert VerificationKey.from_jwk(public).verifies(key.sign(b"base"), b"base")


PEM = serialization.Encoding.PEM
SPKI = serialization.PublicFormat.SubjectPublicKeyInfo
PKCS8 = serialization.PrivateFormat.PKCS8
EDWARDS = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)


SMALL = rsa.generate_private_key(65537, 1024)  # noqa: S505 - a key that must be rejected
P521 = ec.generate_private_key(ec.SECP521R1())


@pytest.mark.parametrize(
    ("private", "public"), [(P521, P521.public_key()), (EDWARDS.public_key(), EDWARDS), ("key", 5)]
)
def test_key_of_an_unsupported_type_is_rejected(private, public):
    with pytest.raises(ConfigurationError, match=r"^key: .*Ed25519, P-256"):
        SigningKey.from_private_key(private, keyid="k")
    with pytest.raises(ConfigurationError, match=r"^key: .*Ed25519, P-256"):
        VerificationKey.from_public_key(public, keyid="k")
    for make in (VerificationKey.from_pem, SigningKey.from_pem):
        with pytest.raises(ConfigurationError, match=r"^pem: "):
            make(5, keyid="k")


def test_weak_key_object_is_rejected():
    with pytest.raises(ConfigurationError, match="small order"):
        VerificationKey.from_public_key(ed25519.Ed25519PublicKey.from_public_bytes(bytes(32)), keyid="k")
    with pytest.raises(ConfigurationError, match=r"^key: an RSA key must have 2048 to 8192 bits"):
        SigningKey.from_private_key(SMALL, keyid="k", algorithm="rsa-pss-sha512")


@pytest.mark.parametrize(
    "pem", ["", "no PEM", b"\xff", EDWARDS.private_bytes(PEM, PKCS8, serialization.NoEncryption())]
)
def test_text_is_rejected_when_it_is_not_a_public_pem(pem):
    with pytest.raises(ConfigurationError, match="BEGIN PUBLIC KEY"):
        VerificationKey.from_pem(pem, keyid="k")


@pytest.mark.parametrize("keyid", [None, 5, "", "é", "a\n"])
def test_signing_key_rejects_a_keyid_that_cannot_be_sent(keyid):
    with pytest.raises(ConfigurationError, match=r"^keyid: "):
        SigningKey.from_private_key(EDWARDS, keyid=keyid)


def test_replay_store_names_a_key_by_the_key_itself():
    key = VerificationKey.from_jwk(PUBLIC)
    owned = key.with_owner("buyer.example.com")
    assert (key.owner, owned.owner) == ("", "buyer.example.com")
    assert key.replay_name == owned.replay_name == key.thumbprint
    assert VerificationKey.from_jwk({**PUBLIC, "kid": "another"}).replay_name == key.thumbprint
    assert owned.verifies(SigningKey.from_jwk(PRIVATE).sign(b"base"), b"base")
    assert VerificationKey.from_jwk(PUBLIC, owner="a").owner == "a"
    assert VerificationKey.from_jwk({"kid": "k"}, owner="a").owner == "a"

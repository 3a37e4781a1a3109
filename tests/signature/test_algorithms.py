"""All algorithms of RFC 9421 section 3.3, as JWKs, PEM and key objects, with the keys of its Appendix B.1."""

from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st
from tests.keys import EC_PUBLIC, PUBLIC, b64url, ed25519_key, es256_key
from tests.vectors.corpora import ROOT

from undersigned import ConfigurationError, KeyPair, SigningKey, VerificationKey
from undersigned.profiles import GNAP, WIMSE
from undersigned.signature.rules import KeyRule

PUBLISHED = json.loads((ROOT / "rfc9421_vectors.json").read_text("utf-8"))["keys"]
RSA = PUBLISHED["test-key-rsa"]["jwk"]
RSA_PSS = PUBLISHED["test-key-rsa-pss"]["jwk"]
SECRET = PUBLISHED["test-shared-secret"]["jwk"]
FACTORS = ("p", "q", "dp", "dq", "qi")
PRIVATE_MEMBERS = ("d", *FACTORS)
KEYS = {
    "rsa-pss-sha512": RSA_PSS,
    "rsa-v1_5-sha256": RSA,
    "ecdsa-p256-sha256": PUBLISHED["test-key-ecc-p256"]["jwk"],
    "ed25519": PUBLISHED["test-key-ed25519"]["jwk"],
    "ecdsa-p384-sha384": {**KeyPair.generate("ecdsa-p384-sha384", keyid="p384").private, "alg": None},
}
REGISTERED = {
    "rsa-pss-sha512": "PS512",
    "rsa-v1_5-sha256": "RS256",
    "ecdsa-p256-sha256": "ES256",
    "ecdsa-p384-sha384": "ES384",
    "ed25519": "EdDSA",
}
FACTORED = rsa.generate_private_key(65537, 2048)
OBJECTS = {
    "rsa-pss-sha512": FACTORED,
    "rsa-v1_5-sha256": FACTORED,
    "ecdsa-p256-sha256": es256_key(),
    "ecdsa-p384-sha384": ec.generate_private_key(ec.SECP384R1()),
    "ed25519": ed25519_key(),
}
PEM = serialization.Encoding.PEM
SPKI = serialization.PublicFormat.SubjectPublicKeyInfo
PKCS8 = serialization.PrivateFormat.PKCS8


def public_part(jwk: dict, **members) -> dict:
    return {name: value for name, value in jwk.items() if name not in PRIVATE_MEMBERS} | members


def pair(algorithm: str) -> tuple[SigningKey, VerificationKey]:
    """The two halves of one key for `algorithm`."""
    if algorithm == "hmac-sha256":
        return SigningKey.from_secret(SECRET, keyid="k"), VerificationKey.from_secret(SECRET, keyid="k")
    jwk = {**KEYS[algorithm], "alg": REGISTERED[algorithm]}
    return SigningKey.from_jwk(jwk), VerificationKey.from_jwk(public_part(jwk))


ALGORITHMS = GNAP.algorithms | WIMSE.algorithms | {"hmac-sha256"}
UNNAMED = VerificationKey.from_jwk({"kid": "a JWK of no kind"}).fault
PAIRS = {algorithm: pair(algorithm) for algorithm in sorted(ALGORITHMS)}


@given(algorithm=st.sampled_from(sorted(ALGORITHMS)), base=st.binary(max_size=200), flipped=st.integers(0, 511))
def test_key_verifies_exactly_what_was_signed_by_its_algorithm(algorithm, base, flipped):
    signing, key = PAIRS[algorithm]
    signature = signing.sign(base)
    assert (signing.algorithm, key.algorithm, key.algorithms) == (algorithm, algorithm, {algorithm})
    assert key.verifies(signature, base)
    assert key.verifies(signature, base, algorithm=algorithm)
    assert not key.verifies(signature, base + b"x")
    changed = bytearray(signature)
    changed[flipped // 8 % len(changed)] ^= 1 << flipped % 8
    assert not key.verifies(bytes(changed), base)
    for other in ALGORITHMS - {algorithm}:
        assert not key.verifies(signature, base, algorithm=other)
        assert not PAIRS[other][1].verifies(signature, base)


@pytest.mark.parametrize("algorithm", sorted(REGISTERED))
@pytest.mark.parametrize("named", [True, False])
def test_jwk_may_name_its_algorithm_by_either_name(algorithm, named):
    jwk = {**KEYS[algorithm], "alg": REGISTERED[algorithm] if named else algorithm}
    key = VerificationKey.from_jwk(public_part(jwk)).for_tests()
    signing = SigningKey.from_jwk(jwk)
    assert signing.algorithm == algorithm
    assert key.algorithms == {algorithm}
    assert key.verifies(signing.sign(b"base"), b"base")
    # AdCP knows the registered names only.
    assert key.algorithm == (algorithm if named else "")
    use = {"use": "sig", "key_ops": ["verify"], "adcp_use": "request-signing"}
    misuse = (
        VerificationKey.from_jwk(public_part(jwk, **use))
        .for_tests()
        .misuse(algorithm, KeyRule(purposes=frozenset({"request-signing"}), is_declared=True))
    )
    assert misuse.partition(":")[0] == ("" if named else "the JWK has no registered alg")


@pytest.mark.parametrize("algorithm", ["ecdsa-p256-sha256", "ecdsa-p384-sha384", "ed25519"])
def test_curve_decides_when_a_jwk_names_no_algorithm(algorithm):
    jwk = {name: value for name, value in KEYS[algorithm].items() if name != "alg"}
    key = VerificationKey.from_jwk(public_part(jwk)).for_tests()
    assert (key.fault, key.algorithm, key.algorithms) == ("", "", {algorithm})
    assert key.verifies(SigningKey.from_jwk(jwk).sign(b"base"), b"base")


def test_rsa_key_verifies_by_a_named_algorithm_only_when_its_jwk_names_none():
    key = VerificationKey.from_jwk(public_part(RSA_PSS))
    signature = SigningKey.from_jwk({**RSA_PSS, "alg": "PS512"}).sign(b"base")
    assert key.algorithms == {"rsa-pss-sha512", "rsa-v1_5-sha256"}
    assert not key.verifies(signature, b"base")
    assert key.verifies(signature, b"base", algorithm="rsa-pss-sha512")
    assert not key.verifies(signature, b"base", algorithm="rsa-v1_5-sha256")
    with pytest.raises(ConfigurationError, match="kty, crv and alg must agree"):
        SigningKey.from_jwk(RSA_PSS)


@pytest.mark.parametrize("algorithm", sorted(REGISTERED))
def test_key_is_read_from_key_objects_and_pem(algorithm):
    loaded = OBJECTS[algorithm]
    how = {"keyid": "k", "algorithm": algorithm, "purposes": ["webhook-signing"]}
    signing, public = SigningKey.from_private_key(loaded, **how), loaded.public_key()
    pem = public.public_bytes(PEM, SPKI)
    given_objects = (
        VerificationKey.from_public_key(public, owner="seller", **how),
        *(VerificationKey.from_pem(text, owner="seller", **how) for text in (pem, pem.decode())),
    )
    for key in given_objects:
        assert (key.keyid, key.owner, key.algorithm, signing.algorithm) == ("k", "seller", algorithm, algorithm)
        assert key.misuse(algorithm, KeyRule(purposes=frozenset({"webhook-signing"}), is_declared=True)) == ""
        assert key.verifies(signing.sign(b"base"), b"base")
    private = loaded.private_bytes(PEM, PKCS8, serialization.NoEncryption())
    assert given_objects[0].verifies(
        SigningKey.from_pem(private, keyid="k", algorithm=algorithm).sign(b"base"), b"base"
    )
    made = KeyPair.from_pem(private, keyid="k", algorithm=algorithm)
    assert made == KeyPair.from_private_key(loaded, keyid="k", algorithm=algorithm)
    assert given_objects[0].verifies(made.signing_key().sign(b"base"), b"base")


def test_rsa_key_object_needs_its_algorithm():
    public = FACTORED.public_key()
    with pytest.raises(
        ConfigurationError, match=r"^algorithm: an RSA key needs one of rsa-pss-sha512, rsa-v1_5-sha256"
    ):
        VerificationKey.from_public_key(public, keyid="k")
    with pytest.raises(ConfigurationError, match=r"^algorithm: this key can be used with rsa-pss-sha512 or rsa"):
        VerificationKey.from_public_key(public, keyid="k", algorithm="ed25519")
    with pytest.raises(ConfigurationError, match=r"^algorithm: this key can be used with ecdsa-p384-sha384$"):
        SigningKey.from_private_key(ec.generate_private_key(ec.SECP384R1()), keyid="k", algorithm="ed25519")


def number(value: int) -> str:
    return b64url(value.to_bytes(-(-value.bit_length() // 8), "big"))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"n": number(2**2047 - 1)}, "an RSA key must have 2048 to 8192 bits"),
        ({"n": number(2**8193 - 1)}, "an RSA key must have 2048 to 8192 bits"),
        ({"n": b64url(b"\1" * 1026)}, "n is empty or too long"),
        ({"n": ""}, "n is empty or too long"),
        ({"n": number(2**2048 - 2)}, "n must be odd, and e odd and from 3 to 2^32"),
        ({"e": number(1)}, "n must be odd, and e odd and from 3 to 2^32"),
        ({"e": number(65536)}, "n must be odd, and e odd and from 3 to 2^32"),
        ({"e": number(2**32 + 1)}, "n must be odd, and e odd and from 3 to 2^32"),
        ({"e": None}, "e is absent or not a string"),
        ({"n": "!"}, "n is not Base64url"),
        ({"alg": "PS256"}, UNNAMED),
        ({"alg": "ed25519"}, UNNAMED),
        ({"alg": 5}, UNNAMED),
        ({"kty": ["RSA"]}, UNNAMED),
        *(
            ({name: "AQAB"}, "the JWK has a private key: publish it without d and all other private members")
            for name in ("d", "p", "dp", "oth")
        ),
    ],
)
def test_unusable_public_rsa_key_has_its_fault(change, fault):
    key = VerificationKey.from_jwk(public_part(RSA, alg="RS256") | change)
    assert (key.fault, key.algorithms) == (fault, frozenset())
    assert not key.verifies(b"", b"base")
    assert not key.verifies(b"", b"base", algorithm="rsa-v1_5-sha256")


def test_largest_rsa_key_has_no_fault():
    key = VerificationKey.from_jwk({"kid": "k", "kty": "RSA", "alg": "RS256", "n": number(2**8192 - 1), "e": "AQAB"})
    assert key.fault == ""
    assert not key.verifies(bytes(1024), b"base")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"q": None}, "q is absent or not a string"),
        ({"p": RSA["q"]}, "do not belong together"),
        ({"d": RSA_PSS["d"]}, "do not belong together"),
        ({"oth": []}, "more than two primes"),
        ({"n": number(2**2047 - 1)}, "2048 to 8192 bits"),
    ],
)
def test_unusable_private_rsa_key_is_rejected(change, fault):
    with pytest.raises(ConfigurationError, match=fault) as caught:
        SigningKey.from_jwk({**RSA, "alg": "RS256", **change})
    assert RSA["d"] not in str(caught.value)


def test_prime_factors_of_an_rsa_key_are_all_given_or_all_computed():
    bare = {name: value for name, value in RSA_PSS.items() if name not in FACTORS}
    key = PAIRS["rsa-pss-sha512"][1]
    assert key.verifies(SigningKey.from_jwk({**bare, "alg": "PS512"}).sign(b"base"), b"base")
    with pytest.raises(ConfigurationError, match="do not belong together"):
        SigningKey.from_jwk({**bare, "alg": "PS512", "p": RSA_PSS["p"]})


def test_shared_secret_is_never_read_from_a_set_of_public_keys():
    fault = "the JWK is a shared secret, which is never in a set of public keys"
    for alg in ("HS256", "hmac-sha256", None):
        key = VerificationKey.from_jwk({**SECRET, "alg": alg})
        assert (key.fault, key.algorithms) == (fault, frozenset())
        assert not key.verifies(PAIRS["hmac-sha256"][0].sign(b"base"), b"base", algorithm="hmac-sha256")


@pytest.mark.parametrize("secret", [SECRET, {**SECRET, "alg": "HS256"}, {**SECRET, "alg": "hmac-sha256"}])
def test_shared_secret_is_given_as_bytes_or_as_a_jwk(secret):
    signature = SigningKey.from_jwk(secret).sign(b"base")
    key = VerificationKey.from_secret(secret, keyid="k", owner="buyer", purposes=["webhook-signing"])
    assert (key.keyid, key.owner, key.purposes) == ("k", "buyer", {"webhook-signing"})
    assert key.verifies(signature, b"base")
    assert SigningKey.from_secret(b"s" * 32, keyid="k").sign(b"base") != signature
    assert SECRET["k"] not in repr(key)


@pytest.mark.parametrize(
    ("secret", "fault"),
    [
        (b"s" * 31, "^secret: give at least 32 random bytes$"),
        ("text", "^secret: give bytes, or a JWK whose kty is oct$"),
        (None, "^secret: give bytes, or a JWK whose kty is oct$"),
        (PUBLIC, "^secret: the JWK's kty is not oct$"),
        ({"kty": "oct", "k": b64url(b"s" * 31)}, "^secret: the JWK cannot be used: k has fewer than 32 bytes$"),
        ({"kty": "oct", "k": 5}, "^secret: the JWK cannot be used: k is absent"),
        ({"kty": "oct", "k": SECRET["k"], "alg": "RS256"}, "^secret: the JWK cannot be used: kty, crv and alg"),
    ],
)
def test_unusable_secret_is_rejected(secret, fault):
    for make in (VerificationKey.from_secret, SigningKey.from_secret):
        with pytest.raises(ConfigurationError, match=fault):
            make(secret, keyid="k")


def test_key_of_another_curve_in_a_set_has_a_fault():
    assert VerificationKey.from_jwk({**EC_PUBLIC, "crv": "P-521"}).fault == UNNAMED
    assert VerificationKey.from_jwk({**EC_PUBLIC, "crv": "P-384", "alg": "ES384"}).fault == "x is not 48 bytes"
    point = {"crv": "P-384", "alg": "ES384", "x": b64url(b"\1" * 48), "y": b64url(b"\1" * 48)}
    assert VerificationKey.from_jwk({**EC_PUBLIC, **point}).fault == "x and y are not a point of P-384"

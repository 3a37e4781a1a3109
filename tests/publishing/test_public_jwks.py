from __future__ import annotations

import base64
import json
import math

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, x448, x25519
from tests.keys import EC_PRIVATE, EC_PUBLIC, JWKS, OTHER_PUBLIC, PRIVATE, PUBLIC

from undersigned import ConfigurationError, VerificationKey
from undersigned.message.structured_fields import base64url
from undersigned.publishing.public_jwks import public_jwks_text, read_jwks

RSA = {"kty": "RSA", "kid": "rsa", "n": "AQAB", "e": "AQAB"}
PRIME, OTHER_PRIME = 2**521 - 1, 2**1279 - 1
OF_PRIMES = RSA | {"n": base64url((PRIME * OTHER_PRIME).to_bytes(225))}
X25519 = {"kty": "OKP", "crv": "X25519", "kid": "sealing", "use": "enc", "x": PUBLIC["x"]}

SECRET = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g"
PEM = f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----\n"
OCTETS = base64.urlsafe_b64decode(PRIVATE["d"] + "=")
DER = bytes.fromhex("302e020100300506032b657004220420") + OCTETS
X25519_DER = DER.replace(b"\x65\x70", b"\x65\x6e")


def base58(octets: bytes) -> str:
    number, text = int.from_bytes(octets, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[digit] + text
    return text


def halves_of_keys_for_other_uses():
    """The JWK of a key on each curve that this library does not verify with, and its private half."""
    kinds = {"X25519": x25519.X25519PrivateKey, "X448": x448.X448PrivateKey, "Ed448": ed448.Ed448PrivateKey}
    for crv, kind in kinds.items():
        key = kind.generate()
        yield X25519 | {"crv": crv, "x": base64url(key.public_key().public_bytes_raw())}, key.private_bytes_raw()
    for crv, curve, size in (("secp256k1", ec.SECP256K1(), 32), ("P-521", ec.SECP521R1(), 66)):
        secret = bytes(range(1, size + 1))
        point = ec.derive_private_key(int.from_bytes(secret), curve).public_key().public_numbers()
        x, y = (base64url(number.to_bytes(size)) for number in (point.x, point.y))
        yield {"kty": "EC", "crv": crv, "x": x, "y": y}, secret


def test_text_is_the_json_of_the_set():
    assert json.loads(public_jwks_text(JWKS)) == JWKS


def test_keys_for_other_uses_may_be_published_too():
    public_jwks_text(
        {
            "keys": [
                PUBLIC,
                RSA,
                OF_PRIMES | {"kid": "b"},
                RSA | {"kid": "c", "n": "A"},
                X25519 | {"exp": 4_000_000_000},
            ],
            "issued": "2026-11-27T00:00:00Z",
        }
    )


MISTAKES = {
    "a private Ed25519 key": ({"keys": [PUBLIC, PRIVATE]}, "'d' is private"),
    "a private P-256 key": ({"keys": [EC_PRIVATE]}, "'d' is private"),
    "a private key alone": (PRIVATE, "'d' is private"),
    "a part of an RSA key": ({"keys": [PUBLIC, RSA | {"qi": "AQAB"}]}, "'qi' is private"),
    "a secret key": ({"keys": [PUBLIC, {"kty": "oct", "kid": "s", "k": "AQAB"}]}, "'k' is private"),
    "a private key aside": ({"keys": [PUBLIC], "backup": [[PRIVATE]]}, "'d' is private"),
    "a private key within": ({"keys": [PUBLIC | {"was": {"d": 1}}]}, "'d' is private"),
    "a private key in a tuple": ({"keys": [PUBLIC], "backup": (PRIVATE,)}, "'d' is private"),
    "a kind of key without a known shape": ({"keys": [PUBLIC, {"kty": "XYZ", "kid": "x", "seed": "1"}]}, "each kty"),
    "a kind of a wrong type": ({"keys": [PUBLIC | {"kty": []}]}, "each kty"),
    "no key": ({"keys": []}, "can verify"),
    "keys for other uses only": ({"keys": [RSA]}, "can verify"),
    "a broken key": ({"keys": [PUBLIC | {"x": "AAAA"}]}, "can verify"),
    "no kid": ({"keys": [{name: PUBLIC[name] for name in PUBLIC if name != "kid"}]}, "needs a kid"),
    "an empty kid": ({"keys": [PUBLIC | {"kid": ""}]}, "needs a kid"),
    "a long kid": ({"keys": [PUBLIC | {"kid": "k" * 320}]}, "fewer than 320 characters"),
    "one kid twice": ({"keys": [PUBLIC, OTHER_PUBLIC | {"kid": PUBLIC["kid"]}]}, "share a kid"),
    "a member that is not a key": ({"keys": [PUBLIC, None]}, "must be a JSON object"),
    "no array": ({"keys": PUBLIC}, '"keys" array'),
    "not an object": ([PUBLIC], '"keys" array'),
    "257 keys": ({"keys": [PUBLIC | {"kid": str(number)} for number in range(257)]}, "up to 256 keys"),
    "too many bytes": ({"keys": [PUBLIC | {"kid": f"{one}" * 99} for one in range(99, 256)]}, "65536 bytes"),
    **{
        f"a private key as text {where}": (jwks, "could hold a private key")
        for where, jwks in {
            "in the set": {"keys": [PUBLIC], "backup": PEM},
            "in a key": {"keys": [PUBLIC | {"note": PEM}]},
            "in parts": {"keys": [PUBLIC | {"note": PEM.splitlines()}]},
            "in a member": {"keys": [PUBLIC | {"note": {"a": PEM}}]},
            "in a known member": {"keys": [PUBLIC | {"x5u": PEM}]},
            "in a short member": {"keys": [PUBLIC | {"use": PRIVATE["d"]}]},
            "in an object of a known member": {"keys": [PUBLIC | {"key_ops": ["verify", {"a": PEM}]}]},
            "without a frame": {"keys": [PUBLIC | {"note": PRIVATE["d"]}]},
            "as numbers": {"keys": [PUBLIC | {"note": list(range(32))}]},
            "as a number": {"keys": [PUBLIC | {"note": 2**255}]},
        }.items()
    },
    **{
        f"the private half of a key as its {name}": (
            {"keys": [public | {name: f"{begin}{private['d']}"}]},
            "private half",
        )
        for private, public in ((PRIVATE, PUBLIC), (EC_PRIVATE, EC_PUBLIC))
        for name, begin in (("kid", ""), ("kid", "key-"), ("x5u", "https://a.example/"), ("x5t#S256", ""))
    },
    **{
        f"the private half of a key as {spelling}": ({"keys": [PUBLIC | {"kid": text}]}, "private half")
        for spelling, text in {
            "digits": OCTETS.hex(),
            "parted digits": OCTETS.hex(":"),
            "Base64": base64.b64encode(OCTETS).decode(),
            "Base32": base64.b32encode(OCTETS).decode(),
            "Base32 in lower case": base64.b32encode(OCTETS).decode().lower().rstrip("="),
            "Base85": f"key:{base64.b85encode(OCTETS).decode()}",
            "a number": str(int.from_bytes(OCTETS, "big")),
            "the numbers of its octets": str([*OCTETS]),
            "Base58": f"z{base58(OCTETS)}",
            "a Multikey in Base58": f"z{base58(bytes((0x80, 0x26)) + OCTETS)}",
            "a number of an odd count of digits": "0x0" + OCTETS.hex(),
            "Ascii85": base64.a85encode(OCTETS).decode(),
            "DER in Base85": base64.b85encode(DER).decode(),
            "DER": base64.encodebytes(DER).decode(),
            "PEM in Base64": base64.b64encode(b"-----BEGIN PRIVATE KEY-----\n" + base64.encodebytes(DER)).decode(),
            "JSON in Base64": base64.b64encode(json.dumps({"d": PRIVATE["d"]}).encode()).decode(),
        }.items()
    },
    **{
        f"the private half of a key on {public['crv']} as {spelling}": (
            {"keys": [PUBLIC, public | {"kid": f"key:{text}"}]},
            "private half",
        )
        for public, secret in halves_of_keys_for_other_uses()
        for spelling, text in (("Base64", base64url(secret)), ("a number", int.from_bytes(secret)))
    },
    **{
        f"a prime of an RSA key as {spelling}": ({"keys": [PUBLIC, OF_PRIMES | {"kid": text}]}, "has a private key")
        for spelling, text in {
            "Base64": base64url(OTHER_PRIME.to_bytes(160)),
            "digits": f"{PRIME:x}",
            "a number": str(PRIME),
        }.items()
    },
    "a private key of another kind as DER": ({"keys": [PUBLIC | {"kid": X25519_DER.hex()}]}, "has a private key"),
    "the private half of a key in place of the public one": (
        {"keys": [PUBLIC | {"kid": VerificationKey.from_jwk(PUBLIC).thumbprint, "x": PRIVATE["d"]}]},
        "private half",
    ),
    "the private half of a key in parts": (
        {"keys": [PUBLIC | {"key_ops": [PRIVATE["d"][:20], PRIVATE["d"][20:]]}]},
        "private half",
    ),
    "a member that is no text": ({"keys": [PUBLIC | {"x5u": [*range(32)]}]}, "must be text"),
    "not JSON": ({"keys": [PUBLIC], "more": b""}, "json.loads"),
    "not a number": ({"keys": [PUBLIC], "more": math.nan}, "json.loads"),
}


@pytest.mark.parametrize(("jwks", "told"), MISTAKES.values(), ids=MISTAKES)
def test_set_that_must_not_be_published_is_a_mistake(jwks, told):
    with pytest.raises(ConfigurationError, match=f"^keys: .*{told}") as raised:
        public_jwks_text(jwks)
    assert str(PRIVATE["d"]) not in str(raised.value)


def test_text_is_read_strictly():
    assert read_jwks(json.dumps({"keys": [EC_PUBLIC]}).encode()) == {"keys": [EC_PUBLIC]}
    for text in (b"{", b'{"keys": [], "keys": []}', b"[" * 100_000, b"\xff"):
        with pytest.raises(ConfigurationError, match=r"^keys: the text is not JSON"):
            read_jwks(text)

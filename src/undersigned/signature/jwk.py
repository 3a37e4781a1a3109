"""JWKs: JSON Web Keys, read into the keys of the cryptography package (RFC 7517, RFC 7518, RFC 8037)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final, TypeAlias

from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from undersigned.signature.edwards25519 import point_fault

JWK: TypeAlias = Mapping[str, object]
PublicKey: TypeAlias = ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey
PrivateKey: TypeAlias = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey

_ALGORITHMS: Final[Mapping[tuple[object, object, object], str]] = {
    ("OKP", "Ed25519", "EdDSA"): "ed25519",
    ("OKP", "Ed25519", "Ed25519"): "ed25519",
    ("EC", "P-256", "ES256"): "ecdsa-p256-sha256",
}
_COORDINATE: Final = 32


class UnusableKey(ValueError):
    """Raised when no key can be made of a JWK. The message quotes no value of it."""


def algorithm_of(jwk: JWK) -> str:
    """Return the RFC 9421 name of the algorithm that `kty`, `crv` and `alg` of a JWK agree on.

    Raises:
        UnusableKey: they do not agree on one.
    """
    kty, crv, alg = jwk.get("kty"), jwk.get("crv"), jwk.get("alg")
    if isinstance(kty, str) and isinstance(crv, str) and isinstance(alg, str) and (kty, crv, alg) in _ALGORITHMS:
        return _ALGORITHMS[kty, crv, alg]
    raise UnusableKey("kty, crv and alg must be OKP, Ed25519 and EdDSA, or EC, P-256 and ES256")


def public_key_of(jwk: JWK) -> PublicKey:
    """Return the public key of a JWK whose `kty` is OKP or EC.

    Raises:
        UnusableKey: there is none, it is weak, or the JWK has the private key too.
    """
    if "d" in jwk:
        raise UnusableKey("the JWK has a private key: publish it without d")
    if jwk["kty"] == "OKP":
        encoded = _coordinate(jwk, "x")
        fault = point_fault(encoded)
        if fault:
            raise UnusableKey(fault)
        return ed25519.Ed25519PublicKey.from_public_bytes(encoded)
    numbers = ec.EllipticCurvePublicNumbers(_integer(jwk, "x"), _integer(jwk, "y"), ec.SECP256R1())
    try:
        return numbers.public_key()
    except ValueError:
        raise UnusableKey("x and y are not a point of P-256") from None


def private_key_of(jwk: JWK) -> PrivateKey:
    """Return the private key of a JWK whose `kty` is OKP or EC.

    Raises:
        UnusableKey: there is none, or the public members belong to another key.
    """
    private: PrivateKey
    if jwk["kty"] == "OKP":
        private = ed25519.Ed25519PrivateKey.from_private_bytes(_coordinate(jwk, "d"))
        matches = "x" not in jwk or private.public_key().public_bytes_raw() == _coordinate(jwk, "x")
    else:
        secret = _integer(jwk, "d")
        try:
            private = ec.derive_private_key(secret, ec.SECP256R1())
        except ValueError:
            raise UnusableKey("d is not a private key of P-256") from None
        numbers = private.public_key().public_numbers()
        matches = "x" not in jwk or (numbers.x, numbers.y) == (_integer(jwk, "x"), _integer(jwk, "y"))
    if not matches:
        raise UnusableKey("the public members do not belong to d")
    return private


def _integer(jwk: JWK, member: str) -> int:
    return int.from_bytes(_coordinate(jwk, member), "big")


def _coordinate(jwk: JWK, member: str) -> bytes:
    """Return a 32-byte member, spelled in unpadded Base64url (RFC 7518 section 6.2.1.2, RFC 8037 section 2)."""
    value = jwk.get(member)
    if not isinstance(value, str):
        raise UnusableKey(f"{member} is absent or not a string")
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise UnusableKey(f"{member} is not Base64url") from None
    if len(decoded) != _COORDINATE:
        raise UnusableKey(f"{member} is not 32 bytes")
    return decoded

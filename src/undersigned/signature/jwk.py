"""Keys in JSON: JWKs, shared secrets and thumbprints (RFC 7517, RFC 7518, RFC 7638, RFC 8037)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, TypeAlias, cast

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from undersigned.errors import ConfigurationError
from undersigned.limits import LEAST_RSA_BITS, LEAST_SECRET_BYTES, MOST_RSA_BITS
from undersigned.message.structured_fields import base64url
from undersigned.signature.ed25519 import point_fault

JWK: TypeAlias = Mapping[str, object]
PublicKey: TypeAlias = ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey | rsa.RSAPublicKey
PrivateKey: TypeAlias = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

PRIVATE_MEMBERS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"})
"""The members that hold private or secret material (RFC 7518 sections 6.2.2, 6.3.2 and 6.4; RFC 8037; AKP)."""

SHARED_FAULT: Final = "the JWK is a shared secret, which is never in a set of public keys"
PRIVATE_FAULT: Final = "the JWK has a private key: publish it without d and all other private members"

_REGISTERED: Final[Mapping[str, Mapping[str, str]]] = {
    "OKP Ed25519": {"Ed25519": "ed25519", "EdDSA": "ed25519"},
    "EC P-256": {"ES256": "ecdsa-p256-sha256"},
    "EC P-384": {"ES384": "ecdsa-p384-sha384"},
    "RSA": {"PS512": "rsa-pss-sha512", "RS256": "rsa-v1_5-sha256"},
    "oct": {"HS256": "hmac-sha256"},
}
"""The RFC 9421 name of each `alg` that is registered for JWKs, by the kind of the key."""

ALGORITHM_NAMES: Final[Mapping[str, str]] = {
    name: algorithm for kind, names in _REGISTERED.items() if kind != "oct" for name, algorithm in names.items()
}
"""The RFC 9421 name of each `alg` that is registered for public keys."""

ALGS: Final[Mapping[str, str]] = {algorithm: name for name, algorithm in ALGORITHM_NAMES.items()}
"""The registered `alg` of each algorithm, by its RFC 9421 name; for ed25519 the older one, EdDSA."""

_COORDINATES: Final[Mapping[str, int]] = {"Ed25519": 32, "P-256": 32, "P-384": 48}
_CURVES: Final[Mapping[str, type[ec.EllipticCurve]]] = {"P-256": ec.SECP256R1, "P-384": ec.SECP384R1}

_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_FACTORS: Final = ("p", "q", "dp", "dq", "qi")
"""The members of a private RSA key that it has all of, or none (RFC 7518 section 6.3.2)."""

_SMALLEST_EXPONENT: Final = 3
_LARGEST_EXPONENT: Final = 2**32

UNNAMED: Final = (
    "kty, crv and alg must agree on an algorithm: OKP, Ed25519 and EdDSA; EC, P-256 and ES256; EC, P-384 and ES384; "
    "RSA and PS512 or RS256"
)


class UnusableKey(ValueError):
    """Raised when no key can be made of a JWK. The message quotes no value of it."""


def algorithms_of(jwk: JWK) -> frozenset[str]:
    """Return the RFC 9421 names of the algorithms that a JWK can be used with.

    `kty` and `crv` decide, and `alg` if the JWK has it: by its registered name or by its RFC 9421 name. An RSA key
    without `alg` has two algorithms.

    Raises:
        UnusableKey: there is none.
    """
    registered, alg = _registered_algorithms(jwk), jwk.get("alg")
    found = frozenset(registered.values())
    if alg is not None:
        found &= {registered.get(alg, alg) if isinstance(alg, str) else ""}
    if not found:
        raise UnusableKey(UNNAMED)
    return found


def algorithm_of(jwk: JWK) -> str:
    """Return the only algorithm that a JWK can be used with.

    Raises:
        UnusableKey: there is none, or there are several: an RSA key has no `alg`.
    """
    found = algorithms_of(jwk)
    if len(found) > 1:
        raise UnusableKey(UNNAMED)
    return next(iter(found))


def named_algorithm(jwk: JWK) -> str:
    """Return the RFC 9421 name of the algorithm that `kty`, `crv` and a registered `alg` agree on, or ""."""
    alg = jwk.get("alg")
    return _registered_algorithms(jwk).get(alg, "") if isinstance(alg, str) else ""


def public_key_of(jwk: JWK) -> PublicKey:
    """Return the public key of a JWK that `algorithms_of` accepts.

    Raises:
        UnusableKey: there is none, it is weak or a shared secret, or the JWK has the private key too.
    """
    kty = jwk["kty"]
    if kty == "oct":
        raise UnusableKey(SHARED_FAULT)
    if not PRIVATE_MEMBERS.isdisjoint(jwk):
        raise UnusableKey(PRIVATE_FAULT)
    if kty == "RSA":
        return _rsa_numbers(jwk).public_key()
    if kty == "OKP":
        encoded = _coordinate(jwk, "x")
        fault = point_fault(encoded)
        if fault:
            raise UnusableKey(fault)
        return ed25519.Ed25519PublicKey.from_public_bytes(encoded)
    numbers = ec.EllipticCurvePublicNumbers(_number(jwk, "x"), _number(jwk, "y"), _CURVES[str(jwk["crv"])]())
    try:
        return numbers.public_key()
    except ValueError:
        raise UnusableKey(f"x and y are not a point of {jwk['crv']}") from None


def private_key_of(jwk: JWK) -> PrivateKey:
    """Return the private key of a JWK that `algorithms_of` accepts, and which is not a shared secret.

    Raises:
        UnusableKey: there is none, or the public members belong to another key.
    """
    if jwk["kty"] == "RSA":
        return _private_rsa_key(jwk)
    private: PrivateKey
    if jwk["kty"] == "OKP":
        private = ed25519.Ed25519PrivateKey.from_private_bytes(_coordinate(jwk, "d"))
        matches = "x" not in jwk or private.public_key().public_bytes_raw() == _coordinate(jwk, "x")
    else:
        secret = _number(jwk, "d")
        try:
            private = ec.derive_private_key(secret, _CURVES[str(jwk["crv"])]())
        except ValueError:
            raise UnusableKey(f"d is not a private key of {jwk['crv']}") from None
        numbers = private.public_key().public_numbers()
        matches = "x" not in jwk or (numbers.x, numbers.y) == (_number(jwk, "x"), _number(jwk, "y"))
    if not matches:
        raise UnusableKey("the public members do not belong to d")
    return private


def secret_of(jwk: JWK) -> bytes:
    """Return the shared secret of a JWK whose `kty` is oct (RFC 7518 section 6.4).

    Raises:
        UnusableKey: there is none, or it is shorter than RFC 7518 section 3.2 asks for.
    """
    secret = _octets(jwk, "k")
    if len(secret) < LEAST_SECRET_BYTES:
        raise UnusableKey(f"k has fewer than {LEAST_SECRET_BYTES} bytes")
    return secret


def texts_of(value: object) -> frozenset[str]:
    """Return the strings that a member of a JWK has, which may be one string or a list."""
    if isinstance(value, str):
        return frozenset({value})
    if not isinstance(value, list):
        return frozenset()
    return frozenset(item for item in cast("list[object]", value) if isinstance(item, str))


def _registered_algorithms(jwk: JWK) -> Mapping[str, str]:
    kty, crv = jwk.get("kty"), jwk.get("crv")
    return _REGISTERED.get(f"{kty} {crv}" if kty in {"OKP", "EC"} else str(kty), {}) if isinstance(kty, str) else {}


def _rsa_numbers(jwk: JWK) -> rsa.RSAPublicNumbers:
    """Return the numbers of a public RSA key (RFC 7518 section 3.3 and 3.5 on the length).

    A long modulus and a large exponent make each verification expensive, and the publisher of a key chooses them.
    """
    modulus, exponent = _integer(jwk, "n"), _integer(jwk, "e")
    if not LEAST_RSA_BITS <= modulus.bit_length() <= MOST_RSA_BITS:
        raise UnusableKey(f"an RSA key must have {LEAST_RSA_BITS} to {MOST_RSA_BITS} bits")
    if modulus % 2 == 0 or exponent % 2 == 0 or not _SMALLEST_EXPONENT <= exponent < _LARGEST_EXPONENT:
        raise UnusableKey("n must be odd, and e odd and from 3 to 2^32")
    return rsa.RSAPublicNumbers(exponent, modulus)


def _private_rsa_key(jwk: JWK) -> rsa.RSAPrivateKey:
    if "oth" in jwk:
        raise UnusableKey("the JWK has more than two primes, which is not supported")
    public, secret = _rsa_numbers(jwk), _integer(jwk, "d")
    factors = {name: _integer(jwk, name) for name in _FACTORS if name in jwk}
    try:
        if not factors:
            p, q = rsa.rsa_recover_prime_factors(public.n, public.e, secret)
            dp, dq, qi = rsa.rsa_crt_dmp1(secret, p), rsa.rsa_crt_dmq1(secret, q), rsa.rsa_crt_iqmp(p, q)
        else:
            p, q, dp, dq, qi = (factors[name] for name in _FACTORS)
        return rsa.RSAPrivateNumbers(p, q, secret, dp, dq, qi, public).private_key()
    except (KeyError, ValueError):
        raise UnusableKey("n, e, d and the prime factors do not belong together") from None


def _number(jwk: JWK, member: str) -> int:
    return int.from_bytes(_coordinate(jwk, member), "big")


def _coordinate(jwk: JWK, member: str) -> bytes:
    """Return a member as long as the curve's coordinates (RFC 7518 section 6.2.1.2, RFC 8037 section 2)."""
    decoded, length = _octets(jwk, member), _COORDINATES[str(jwk["crv"])]
    if len(decoded) != length:
        raise UnusableKey(f"{member} is not {length} bytes")
    return decoded


def _integer(jwk: JWK, member: str) -> int:
    """Return a number of any length that a key can have (RFC 7518 section 2, Base64urlUInt)."""
    decoded = _octets(jwk, member)
    if not 0 < len(decoded) <= MOST_RSA_BITS // 8 + 1:
        raise UnusableKey(f"{member} is empty or too long")
    return int.from_bytes(decoded, "big")


def _octets(jwk: JWK, member: str) -> bytes:
    """Return the bytes of a member, which others also spell with padding or in the alphabet of plain Base64."""
    value = jwk.get(member)
    if not isinstance(value, str):
        raise UnusableKey(f"{member} is absent or not a string")
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise UnusableKey(f"{member} is not Base64url") from None


SHARED_SECRET: Final = "hmac-sha256"  # noqa: S105 - the name of an algorithm
"""The one algorithm whose key is a secret of both parties (RFC 9421 section 3.3.3)."""


def read_secret(secret: bytes | JWK) -> bytes:
    """Return the bytes of a shared secret: 32 bytes or more, or those of a JWK whose `kty` is oct.

    Raises:
        ConfigurationError: the secret is too short, or not one. Nothing of it is in the message.
    """
    if isinstance(secret, bytes):
        if len(secret) >= LEAST_SECRET_BYTES:
            return secret
        raise ConfigurationError(f"secret: give at least {LEAST_SECRET_BYTES} random bytes")
    if not isinstance(secret, Mapping):
        raise ConfigurationError("secret: give bytes, or a JWK whose kty is oct")
    try:
        if SHARED_SECRET in algorithms_of(secret):
            return secret_of(secret)
    except UnusableKey as unusable:
        raise ConfigurationError(f"secret: the JWK cannot be used: {unusable}") from None
    raise ConfigurationError("secret: the JWK's kty is not oct")


_MEMBERS: Final[Mapping[object, tuple[str, ...]]] = {
    "EC": ("crv", "kty", "x", "y"),
    "OKP": ("crv", "kty", "x"),
    "RSA": ("e", "kty", "n"),
}
_NUMBERS: Final = frozenset({"x", "y", "n", "e"})


def thumbprint(jwk: Mapping[str, object]) -> str | None:
    """Return the SHA-256 thumbprint of a JWK in unpadded Base64url, or None if a member is absent or not a string.

    It is that of the key in canonical form, however the JWK spells it (RFC 7638 section 3.3).
    """
    members = _required(jwk)
    for name in _NUMBERS.intersection(members):
        length = _COORDINATES.get(members.get("crv", ""), 0)
        with suppress(UnusableKey):
            octets = _octets(members, name)
            if length or "crv" not in members:
                octets = octets.lstrip(b"\0").rjust(length, b"\0")
            members[name] = base64url(octets)
    return _digest(members)


def written_thumbprint(jwk: Mapping[str, object]) -> str | None:
    """Return the thumbprint of a JWK as it is written. Its publisher may know the key by this one."""
    return _digest(_required(jwk))


def _required(jwk: Mapping[str, object]) -> dict[str, str]:
    """Return the members that a thumbprint is made of, or none if one is absent or not a string."""
    kty = jwk.get("kty")
    names = _MEMBERS.get(kty) if isinstance(kty, str) else None
    members = {name: value for name in names or () if isinstance(value := jwk.get(name), str)}
    return members if names is not None and len(members) == len(names) else {}


def _digest(members: Mapping[str, str]) -> str | None:
    if not members:
        return None
    text = json.dumps(members, separators=(",", ":"), ensure_ascii=False)
    return base64url(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def public_jwk(key: PublicKey) -> dict[str, str]:
    """Return the members that make a public key (RFC 7518 section 6, RFC 8037 section 2), without a `kid`.

    Args:
        key: an Ed25519, P-256, P-384 or RSA key.
    """
    if isinstance(key, ed25519.Ed25519PublicKey):
        return {"kty": "OKP", "crv": "Ed25519", "x": base64url(key.public_bytes_raw())}
    if isinstance(key, rsa.RSAPublicKey):
        numbers = key.public_numbers()
        return {"kty": "RSA", "n": base64url_integer(numbers.n), "e": base64url_integer(numbers.e)}
    point, length = key.public_numbers(), -(-key.key_size // 8)
    x, y = (base64url(number.to_bytes(length, "big")) for number in (point.x, point.y))
    crv = next((crv for crv, curve in _CURVES.items() if isinstance(key.curve, curve)), key.curve.name)
    return {"kty": "EC", "crv": crv, "x": x, "y": y}


def base64url_integer(number: int) -> str:
    """Return a number in Base64urlUInt (RFC 7518 section 2)."""
    return base64url(octets_of(number))


def octets_of(number: int) -> bytes:
    """Return the fewest octets that have a number."""
    return number.to_bytes(-(-number.bit_length() // 8))


def read_base58(text: str) -> bytes:
    """Return the octets of a text in base58btc, without leading zeros, as in a Multikey (W3C Controlled Identifiers).

    The time grows with the square of the length, so bound it before.

    Raises:
        ValueError: the text has another character.
    """
    number = 0
    for character in text:
        number = number * len(_BASE58) + _BASE58.index(character)
    return octets_of(number)

"""Keys: a JWK becomes a key with a purpose and one signature algorithm (RFC 7517, RFC 8037)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, cast

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from http_message_signatures import HTTPMessageSignaturesException
from http_message_signatures.algorithms import ECDSA_P256_SHA256, ED25519, HTTPSignatureAlgorithm

from undersigned.errors import ConfigurationError
from undersigned.signature.edwards25519 import point_fault

JWK: TypeAlias = Mapping[str, object]
PublicKey: TypeAlias = ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey
PrivateKey: TypeAlias = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey

_ALGORITHMS: Mapping[tuple[object, object, object], type[HTTPSignatureAlgorithm]] = {
    ("OKP", "Ed25519", "EdDSA"): ED25519,
    ("OKP", "Ed25519", "Ed25519"): ED25519,
    ("EC", "P-256", "ES256"): ECDSA_P256_SHA256,
}
_COORDINATE = 32

ALGORITHMS: frozenset[str] = frozenset(algorithm.algorithm_id for algorithm in _ALGORITHMS.values())
"""The RFC 9421 names of the algorithms a key can have."""


class _Unusable(ValueError):
    """A JWK we cannot make a key of; the message is made of our words only."""


@dataclass(frozen=True, slots=True, eq=False)
class VerificationKey:
    """A published key, and what it may be used for. It equals itself alone: its names do not tell its material.

    A key that cannot be used is kept with its `fault`, so that a signature naming it is refused for what is wrong
    with the key (AdCP step 8) and not as unknown.

    Attributes:
        keyid: the JWK's `kid`.
        algorithm: the RFC 9421 algorithm name that kty, crv and alg agree on, or "" where they do not.
        use: the JWK's `use`, or "".
        operations: the JWK's `key_ops`.
        purposes: the JWK's `adcp_use`.
        fault: why no key could be made of the JWK, or "".
    """

    keyid: str
    algorithm: str
    use: str
    operations: frozenset[str]
    purposes: frozenset[str]
    fault: str = ""
    _verifier: HTTPSignatureAlgorithm | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_jwk(cls, jwk: JWK) -> VerificationKey:
        """Make a key of a JWK with a `kid`; what is wrong with it otherwise is in `fault`.

        Raises:
            ConfigurationError: not a JWK with a `kid`.
        """
        keyid = jwk.get("kid") if isinstance(jwk, Mapping) else None
        if not isinstance(keyid, str):
            raise ConfigurationError("the JWK needs a kid, a string: a signature names its key by it")
        use = _text(jwk.get("use"))
        operations, purposes = _texts(jwk.get("key_ops")), _texts(jwk.get("adcp_use"))
        try:
            algorithm = _algorithm(jwk)
            verifier = algorithm(public_key=_public_key(jwk))
        except _Unusable as unusable:
            return cls(keyid, "", use, operations, purposes, str(unusable))
        return cls(keyid, algorithm.algorithm_id, use, operations, purposes, _verifier=verifier)

    def misuse(self, algorithm: str, purposes: frozenset[str]) -> str:
        """Return why this key may not verify a signature by `algorithm` for any of `purposes`, or "" (AdCP step 8)."""
        if self.fault:
            return self.fault
        if self.use != "sig":
            return "the JWK's use is not sig"
        if "verify" not in self.operations:
            return "the JWK's key_ops does not name verify"
        if self.purposes.isdisjoint(purposes):
            return "the JWK's adcp_use is not the profile's purpose"
        if self.algorithm != algorithm:
            return "the JWK's algorithm is not the signature's alg"
        return ""

    def verifies(self, signature: bytes, base: bytes) -> bool:
        """Return whether `signature` is this key's over `base` (RFC 9421 section 3.3)."""
        if self._verifier is None:
            return False
        try:
            self._verifier.verify(signature, base)
        except (InvalidSignature, HTTPMessageSignaturesException):
            return False
        return True


@dataclass(frozen=True, slots=True, eq=False)
class SigningKey:
    """A private key and its `kid`. Its repr shows no key material. It equals itself alone.

    Attributes:
        keyid: the JWK's `kid`, sent as the `keyid` parameter.
        algorithm: the RFC 9421 algorithm name.
        purposes: the JWK's `adcp_use`; empty where the JWK names none.
    """

    keyid: str
    algorithm: str
    purposes: frozenset[str]
    _signer: HTTPSignatureAlgorithm = field(repr=False, compare=False)

    @classmethod
    def from_jwk(cls, jwk: JWK) -> SigningKey:
        """Make a key of a private JWK: `kid`, `kty`, `crv`, `alg`, `x` (and `y`), `d`.

        Raises:
            ConfigurationError: a member is absent or does not fit the others. No member's value is in the message.
        """
        if not isinstance(jwk, Mapping):
            raise ConfigurationError("the signing JWK must be a JSON object, as json.loads reads it")
        keyid = jwk.get("kid")
        if not isinstance(keyid, str) or not keyid or not (keyid.isascii() and keyid.isprintable()):
            raise ConfigurationError("the signing JWK needs a kid of printable ASCII: the verifier looks it up by kid")
        try:
            algorithm = _algorithm(jwk)
            signer = algorithm(private_key=_private_key(jwk))
        except _Unusable as unusable:
            raise ConfigurationError(f"the signing JWK cannot be used: {unusable}") from None
        return cls(keyid, algorithm.algorithm_id, _texts(jwk.get("adcp_use")), _signer=signer)

    def sign(self, base: bytes) -> bytes:
        """Return the signature over `base` (RFC 9421 section 3.3); ECDSA as r and s of 32 bytes each."""
        return cast("bytes", self._signer.sign(base))


class KeySource(Protocol):
    """Answers step 7: which key a keyid names.

    Attributes:
        blocking: whether `find` may block on IO; the ASGI middleware then asks it off the event loop.
    """

    @property
    def blocking(self) -> bool:
        """Whether `find` may block."""
        ...

    def find(self, keyid: str) -> VerificationKey | None:
        """Return the key, or None for one the source does not know. An exception means it cannot be asked now."""
        ...


class AsyncKeySource(Protocol):
    """`KeySource` whose answer may have to be awaited; a `KeySet` is one as it is."""

    def find(self, keyid: str) -> VerificationKey | Awaitable[VerificationKey | None] | None:
        """Return the key, None for an unknown one, or an awaitable of either."""
        ...


@dataclass(frozen=True, slots=True)
class KeySet:
    """A fixed set of keys by keyid."""

    keys: Mapping[str, VerificationKey]

    @classmethod
    def from_jwks(cls, jwks: Mapping[str, object]) -> KeySet:
        """Read a JWK set (RFC 7517 section 5). A key without `kid` cannot be named by a signature and is left out.

        Raises:
            ConfigurationError: not a JWK set, or two keys share a `kid`.
        """
        members: object = jwks.get("keys") if isinstance(jwks, Mapping) else None
        if not isinstance(members, list):
            raise ConfigurationError('keys: a JWK set is a JSON object with a "keys" array')
        keys: dict[str, VerificationKey] = {}
        for member in cast("list[object]", members):
            if not isinstance(member, Mapping):
                raise ConfigurationError("keys: every member of the JWK set's keys array must be a JSON object")
            jwk = cast("JWK", member)
            keyid = jwk.get("kid")
            if not isinstance(keyid, str):
                continue
            if keyid in keys:
                raise ConfigurationError(f"keys: two keys of the JWK set share the kid {keyid!r}; make them distinct")
            keys[keyid] = VerificationKey.from_jwk(jwk)
        return cls(keys)

    @property
    def blocking(self) -> bool:
        """Always False: the keys are in memory."""
        return False

    def find(self, keyid: str) -> VerificationKey | None:
        """Return the key that `keyid` names, or None."""
        return self.keys.get(keyid)


def _algorithm(jwk: JWK) -> type[HTTPSignatureAlgorithm]:
    kty, crv, alg = jwk.get("kty"), jwk.get("crv"), jwk.get("alg")
    if isinstance(kty, str) and isinstance(crv, str) and isinstance(alg, str) and (kty, crv, alg) in _ALGORITHMS:
        return _ALGORITHMS[kty, crv, alg]
    raise _Unusable("kty, crv and alg must be OKP, Ed25519 and EdDSA, or EC, P-256 and ES256")


def _public_key(jwk: JWK) -> PublicKey:
    if "d" in jwk:
        raise _Unusable("the JWK holds a private key: publish it without d")
    if jwk["kty"] == "OKP":
        encoded = _coordinate(jwk, "x")
        fault = point_fault(encoded)
        if fault:
            raise _Unusable(fault)
        return ed25519.Ed25519PublicKey.from_public_bytes(encoded)
    numbers = ec.EllipticCurvePublicNumbers(_integer(jwk, "x"), _integer(jwk, "y"), ec.SECP256R1())
    try:
        return numbers.public_key()
    except ValueError:
        raise _Unusable("x and y are not a point of P-256") from None


def _private_key(jwk: JWK) -> PrivateKey:
    private: PrivateKey
    if jwk["kty"] == "OKP":
        private = ed25519.Ed25519PrivateKey.from_private_bytes(_coordinate(jwk, "d"))
        matches = "x" not in jwk or private.public_key().public_bytes_raw() == _coordinate(jwk, "x")
    else:
        secret = _integer(jwk, "d")
        try:
            private = ec.derive_private_key(secret, ec.SECP256R1())
        except ValueError:
            raise _Unusable("d is not a private key of P-256") from None
        numbers = private.public_key().public_numbers()
        matches = "x" not in jwk or (numbers.x, numbers.y) == (_integer(jwk, "x"), _integer(jwk, "y"))
    if not matches:
        raise _Unusable("the public members are not those of d")
    return private


def _integer(jwk: JWK, member: str) -> int:
    return int.from_bytes(_coordinate(jwk, member), "big")


def _coordinate(jwk: JWK, member: str) -> bytes:
    """Return a 32-byte member, spelled in unpadded Base64url (RFC 7518 section 6.2.1.2, RFC 8037 section 2)."""
    value = jwk.get(member)
    if not isinstance(value, str):
        raise _Unusable(f"{member} is absent or not a string")
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _Unusable(f"{member} is not Base64url") from None
    if len(decoded) != _COORDINATE:
        raise _Unusable(f"{member} is not 32 bytes")
    return decoded


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset({value})
    if not isinstance(value, list):
        return frozenset()
    return frozenset(item for item in cast("list[object]", value) if isinstance(item, str))

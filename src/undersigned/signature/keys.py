"""Keys: what verifies and what signs, with a name, a purpose and one signature algorithm (RFC 9421 section 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from http_message_signatures import HTTPMessageSignaturesException
from http_message_signatures.algorithms import ECDSA_P256_SHA256, ED25519, HTTPSignatureAlgorithm

from undersigned.errors import ConfigurationError
from undersigned.signature.edwards25519 import point_fault
from undersigned.signature.jwk import JWK, UnusableKey, algorithm_of, private_key_of, public_key_of

if TYPE_CHECKING:
    from undersigned.signature.jwk import PrivateKey, PublicKey

_Purposes: TypeAlias = Iterable[str]

_ALGORITHMS: Final[Mapping[str, type[HTTPSignatureAlgorithm]]] = {
    algorithm.algorithm_id: algorithm for algorithm in (ED25519, ECDSA_P256_SHA256)
}

ALGORITHMS: frozenset[str] = frozenset(_ALGORITHMS)
"""The RFC 9421 names of the algorithms a key can have."""


@dataclass(frozen=True, slots=True, eq=False)
class VerificationKey:
    """A published key, and what it may be used for. A key equals only itself: two keys may have one name.

    A key that cannot be used is kept with its `fault`, so that a signature by it is rejected for that fault (AdCP step
    8), and not because the key is unknown.

    Attributes:
        keyid: the JWK's `kid`.
        algorithm: the RFC 9421 algorithm name that kty, crv and alg agree on, or "" if they do not.
        use: the JWK's `use`, or "".
        operations: the JWK's `key_ops`.
        purposes: the JWK's `adcp_use`.
        fault: why no key could be made of the JWK, or "".
        owner: whose key it is, as the key source has it, or "" if the source does not say.
        replay_name: the name of the key in a replay store: its keyid, preceded by its owner if it has one.
    """

    keyid: str
    algorithm: str
    use: str
    operations: frozenset[str]
    purposes: frozenset[str]
    fault: str = ""
    owner: str = ""
    _verifier: HTTPSignatureAlgorithm | None = field(default=None, repr=False, compare=False)
    replay_name: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Name the key for replay stores."""
        # The keyid of a message has no line break, so no key without an owner can have the name of a key with one.
        object.__setattr__(self, "replay_name", f"{self.owner}\n{self.keyid}" if self.owner else self.keyid)

    @classmethod
    def from_jwk(cls, jwk: JWK, *, owner: str = "") -> VerificationKey:
        """Make a key of a public JWK with a `kid`. Any other fault of the JWK is kept in `fault`.

        A JWK with `d`, an Ed25519 key of small order and one that is not encoded canonically have a fault.

        Raises:
            ConfigurationError: not a JWK with a `kid`.
        """
        keyid = jwk.get("kid") if isinstance(jwk, Mapping) else None
        if not isinstance(keyid, str):
            raise ConfigurationError("the JWK needs a kid, a string: a signature names its key by it")
        use = _text(jwk.get("use"))
        operations, purposes = _texts(jwk.get("key_ops")), _texts(jwk.get("adcp_use"))
        try:
            algorithm = algorithm_of(jwk)
            verifier = _ALGORITHMS[algorithm](public_key=public_key_of(jwk))
        except UnusableKey as unusable:
            return cls(keyid, "", use, operations, purposes, str(unusable), owner)
        return cls(keyid, algorithm, use, operations, purposes, "", owner, verifier)

    @classmethod
    def from_public_key(
        cls, key: PublicKey, *, keyid: str, purposes: _Purposes = ("request-signing",), owner: str = ""
    ) -> VerificationKey:
        """Make a key of an Ed25519 or P-256 public key of the cryptography package, for verifying signatures.

        Args:
            key: the public key.
            keyid: the `keyid` that signatures name it by.
            purposes: what it may verify (AdCP `adcp_use`).
            owner: whose key it is.

        Raises:
            ConfigurationError: the key is of another kind or cannot be used, or `keyid` is not a string.
        """
        if not isinstance(keyid, str):
            raise ConfigurationError("keyid: give a string: a signature names its key by it")
        verifier = _ALGORITHMS[_algorithm_of_key(key, ed25519.Ed25519PublicKey, ec.EllipticCurvePublicKey)]
        fault = point_fault(key.public_bytes_raw()) if isinstance(key, ed25519.Ed25519PublicKey) else ""
        if fault:
            raise ConfigurationError(f"key: {fault}")
        uses = frozenset(purposes)
        operations = frozenset({"verify"})
        return cls(keyid, verifier.algorithm_id, "sig", operations, uses, "", owner, verifier(public_key=key))

    @classmethod
    def from_pem(
        cls, pem: bytes | str, *, keyid: str, purposes: _Purposes = ("request-signing",), owner: str = ""
    ) -> VerificationKey:
        """Make a key of a public key in PEM (SubjectPublicKeyInfo, RFC 7468 section 13); as `from_public_key`.

        Raises:
            ConfigurationError: there is no such key.
        """
        try:
            key = serialization.load_pem_public_key(_octets(pem))
        except (ValueError, UnsupportedAlgorithm):
            raise ConfigurationError("pem: expected one public key, -----BEGIN PUBLIC KEY-----") from None
        return cls.from_public_key(cast("PublicKey", key), keyid=keyid, purposes=purposes, owner=owner)

    def owned_by(self, owner: str) -> VerificationKey:
        """Return this key as a key of `owner`."""
        return VerificationKey(
            self.keyid, self.algorithm, self.use, self.operations, self.purposes, self.fault, owner, self._verifier
        )

    def misuse(self, algorithm: str, purposes: frozenset[str]) -> str:
        """Return why this key may not verify a signature by `algorithm` for any of `purposes`, or "" (AdCP step 8)."""
        if self.fault:
            return self.fault
        if self.use != "sig":
            return "the JWK's use is not sig"
        if "verify" not in self.operations:
            return "the JWK's key_ops does not include verify"
        if self.purposes.isdisjoint(purposes):
            return f"the JWK's adcp_use does not include {' or '.join(sorted(purposes))}"
        if self.algorithm != algorithm:
            return "the JWK's algorithm is not the signature's alg"
        return ""

    def verifies(self, signature: bytes, base: bytes) -> bool:
        """Return whether this key verifies `signature` over `base` (RFC 9421 section 3.3)."""
        if self._verifier is None:
            return False
        try:
            self._verifier.verify(signature, base)
        except (InvalidSignature, HTTPMessageSignaturesException):
            return False
        return True


@dataclass(frozen=True, slots=True, eq=False)
class SigningKey:
    """A private key and its `kid`. Its repr shows no key material. A key equals only itself.

    Attributes:
        keyid: the JWK's `kid`, sent as the `keyid` parameter.
        algorithm: the RFC 9421 algorithm name.
        purposes: the JWK's `adcp_use`; empty if the JWK names none.
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
        if not is_keyid(keyid):
            raise ConfigurationError("the signing JWK needs a kid of printable ASCII: the verifier looks it up by kid")
        try:
            algorithm = algorithm_of(jwk)
            signer = _ALGORITHMS[algorithm](private_key=private_key_of(jwk))
        except UnusableKey as unusable:
            raise ConfigurationError(f"the signing JWK cannot be used: {unusable}") from None
        return cls(cast("str", keyid), algorithm, _texts(jwk.get("adcp_use")), _signer=signer)

    @classmethod
    def from_private_key(cls, key: PrivateKey, *, keyid: str, purposes: _Purposes = ("request-signing",)) -> SigningKey:
        """Make a key of an Ed25519 or P-256 private key of the cryptography package.

        Args:
            key: the private key.
            keyid: what is sent as the `keyid` parameter.
            purposes: what it may sign (AdCP `adcp_use`).

        Raises:
            ConfigurationError: the key is of another kind, or `keyid` is not printable ASCII.
        """
        if not is_keyid(keyid):
            raise ConfigurationError("keyid: give printable ASCII: the verifier looks the key up by it")
        signer = _ALGORITHMS[_algorithm_of_key(key, ed25519.Ed25519PrivateKey, ec.EllipticCurvePrivateKey)]
        return cls(keyid, signer.algorithm_id, frozenset(purposes), _signer=signer(private_key=key))

    @classmethod
    def from_pem(
        cls,
        pem: bytes | str,
        *,
        keyid: str,
        password: bytes | None = None,
        purposes: _Purposes = ("request-signing",),
    ) -> SigningKey:
        """Make a key of a private key in PEM (PKCS #8, RFC 7468 sections 10 and 11); as `from_private_key`.

        Raises:
            ConfigurationError: there is no such key, or `password` does not fit it. Nothing of it is in the message.
        """
        return cls.from_private_key(read_private_pem(pem, password), keyid=keyid, purposes=purposes)

    def sign(self, base: bytes) -> bytes:
        """Return the signature over `base` (RFC 9421 section 3.3); ECDSA as r and s of 32 bytes each."""
        return cast("bytes", self._signer.sign(base))


def read_private_pem(pem: bytes | str, password: bytes | None) -> PrivateKey:
    """Return the private key in a PEM text, which may be of another kind than a signer can use.

    Raises:
        ConfigurationError: there is no key, or `password` does not fit it. Nothing of it is in the message.
    """
    try:
        key = serialization.load_pem_private_key(_octets(pem), password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ConfigurationError("pem: expected one private key, and its password if it is encrypted") from None
    return cast("PrivateKey", key)


def _algorithm_of_key(key: object, edwards: type[object], elliptic: type[object]) -> str:
    if isinstance(key, edwards):
        return ED25519.algorithm_id
    curve = getattr(key, "curve", None)
    if isinstance(key, elliptic) and isinstance(curve, ec.SECP256R1):
        return ECDSA_P256_SHA256.algorithm_id
    raise ConfigurationError("key: give a key of the cryptography package for Ed25519 or P-256")


def _octets(pem: object) -> bytes:
    if isinstance(pem, str):
        return pem.encode("utf-8", "surrogatepass")
    if isinstance(pem, bytes):
        return pem
    raise ConfigurationError("pem: give the text of a PEM file, as str or bytes")


def is_keyid(value: object) -> bool:
    """Return whether `value` can be the `keyid` parameter: printable ASCII."""
    return isinstance(value, str) and bool(value) and value.isascii() and value.isprintable()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset({value})
    if not isinstance(value, list):
        return frozenset()
    return frozenset(item for item in cast("list[object]", value) if isinstance(item, str))

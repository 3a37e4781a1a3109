"""Verification keys: public keys and shared secrets, each with a name, a purpose and algorithms (RFC 9421, 3.3)."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from http_message_signatures import HTTPMessageSignaturesException
from http_message_signatures.algorithms import (
    ECDSA_P256_SHA256,
    ECDSA_P384_SHA384,
    RSA_PSS_SHA512,
    HTTPSignatureAlgorithm,
)

from undersigned.errors import ConfigurationError
from undersigned.signature.algorithms import BY_NAME, algorithm_for
from undersigned.signature.jwk import (
    ALGS,
    JWK,
    SHARED_SECRET,
    UnusableKey,
    algorithms_of,
    named_algorithm,
    public_jwk,
    public_key_of,
    read_secret,
    texts_of,
    thumbprint,
    written_thumbprint,
)
from undersigned.signature.pem import read_public_pem
from undersigned.signature.published_test_keys import TEST_KEY_FAULT, TEST_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    from undersigned.signature.jwk import PublicKey
    from undersigned.signature.profile import Profile
    from undersigned.signature.rules import KeyRule

_Purposes: TypeAlias = Iterable[str]
_Algorithms: TypeAlias = dict[str, HTTPSignatureAlgorithm]
_HASHES: Final = (hashes.SHA1(), hashes.SHA256(), hashes.SHA384(), hashes.SHA512())  # noqa: S303 - to name a mistake
_LENGTHS: Final = {"ed25519": 64, "ecdsa-p256-sha256": 64, "ecdsa-p384-sha384": 96, "hmac-sha256": 32}


@dataclass(slots=True, eq=False)
class VerificationKey:
    """A published key, and what it may be used for. A key equals only itself: two keys may have one name.

    A key that cannot be used is kept with its `fault`. Then a signature by it is rejected for that fault (AdCP step
    8), and not because the key is unknown. A published test key has a fault too: anyone can sign with it.

    Attributes:
        keyid: the JWK's `kid`.
        algorithm: the RFC 9421 name of the algorithm that kty, crv and a registered alg agree on, or "" if they do not.
        use: the JWK's `use`, or "".
        operations: the JWK's `key_ops`.
        purposes: the JWK's `adcp_use`.
        fault: why the key may not be used, or "".
        owner: the owner of the key by the key source, or "" if the source does not say.
        thumbprint: the JWK thumbprint (RFC 7638), or "" if the key is a shared secret or cannot be used.
        replay_name: the name of the key in a replay store: its thumbprint, or a digest of a shared secret. It depends
            on nothing but the key, so a signature is accepted once whichever source finds the key.
        written: the thumbprint of the JWK as it is written. It differs from `thumbprint` if the JWK is not in canonical
            form, such as one with padding. A revocation list may name the key by each of them.
    """

    keyid: str
    algorithm: str
    use: str
    operations: frozenset[str]
    purposes: frozenset[str]
    fault: str = ""
    owner: str = ""
    _verifiers: Mapping[str, HTTPSignatureAlgorithm] = field(default_factory=_Algorithms, repr=False)
    thumbprint: str = field(default="", repr=False)
    replay_name: str = field(default="", repr=False)
    written: str = field(default="", repr=False)

    @classmethod
    def from_jwk(cls, jwk: JWK, *, owner: str = "") -> VerificationKey:
        """Make a key of a public JWK with a `kid`. Any other fault of the JWK is kept in `fault`.

        A JWK with `d`, a shared secret, an RSA key of fewer than 2,048 bits and a weak Ed25519 key have a fault too.

        Raises:
            ConfigurationError: not a JWK with a `kid`.
        """
        keyid = jwk.get("kid") if isinstance(jwk, Mapping) else None
        if not isinstance(keyid, str):
            raise ConfigurationError("the JWK needs a kid, a string: a signature names its key by it")
        given = jwk.get("use")
        use = given if isinstance(given, str) else ""
        operations, purposes = texts_of(jwk.get("key_ops")), texts_of(jwk.get("adcp_use"))
        try:
            algorithms = algorithms_of(jwk)
            public = public_key_of(jwk)
        except UnusableKey as unusable:
            return cls(keyid, "", use, operations, purposes, str(unusable), owner)
        verifiers = {name: BY_NAME[name](public_key=public) for name in algorithms}
        named = named_algorithm(jwk)
        name, written = thumbprint(public_jwk(public)) or "", written_thumbprint(jwk) or ""
        fault = TEST_KEY_FAULT if name in TEST_KEYS else ""
        return cls(keyid, named, use, operations, purposes, fault, owner, verifiers, name, name, written)

    @classmethod
    def from_public_key(
        cls,
        key: PublicKey,
        *,
        keyid: str,
        purposes: _Purposes = ("request-signing",),
        owner: str = "",
        algorithm: str | None = None,
    ) -> VerificationKey:
        """Make a key of an Ed25519, P-256, P-384 or RSA public key of the cryptography package.

        Args:
            key: the public key.
            keyid: the `keyid` that signatures name it by.
            purposes: what it may verify (AdCP `adcp_use`).
            owner: whose key it is.
            algorithm: the RFC 9421 name of its algorithm. Only an RSA key has more than one, and needs it.

        Raises:
            ConfigurationError: the key is of another kind or cannot be used.
        """
        name = algorithm_for(key, private=False, algorithm=algorithm)
        uses = {"use": "sig", "key_ops": ["verify"], "adcp_use": [*purposes]}
        return cls.from_jwk({"kid": keyid, **public_jwk(key), "alg": ALGS[name], **uses}, owner=owner)

    @classmethod
    def from_pem(
        cls,
        pem: bytes | str,
        *,
        keyid: str,
        purposes: _Purposes = ("request-signing",),
        owner: str = "",
        algorithm: str | None = None,
    ) -> VerificationKey:
        """Make a key of a public key in PEM (RFC 7468 section 13, or PKCS #1 for RSA); as `from_public_key`.

        Raises:
            ConfigurationError: there is no such key.
        """
        key = read_public_pem(pem)
        return cls.from_public_key(key, keyid=keyid, purposes=purposes, owner=owner, algorithm=algorithm)

    @classmethod
    def from_secret(
        cls, secret: bytes | JWK, *, keyid: str, purposes: _Purposes = ("request-signing",), owner: str = ""
    ) -> VerificationKey:
        """Make a key for hmac-sha256 of a secret that only both parties have (RFC 9421 section 3.3.3).

        A verifier that has it can also sign, so it is not read from a JWK set, which is public.
        `secret` is 32 random bytes or more, or a JWK whose `kty` is oct. The rest is as for `from_public_key`.

        Raises:
            ConfigurationError: the secret is too short or not one.
        """
        octets = read_secret(secret)
        name = hmac.digest(octets, b"undersigned replay", "sha256").hex()
        verifiers = {SHARED_SECRET: BY_NAME[SHARED_SECRET](public_key=octets)}
        operations, fault = frozenset({"verify"}), TEST_KEY_FAULT if name in TEST_KEYS else ""
        return cls(
            keyid, SHARED_SECRET, "sig", operations, frozenset(purposes), fault, owner, verifiers, replay_name=name
        )

    @property
    def algorithms(self) -> frozenset[str]:
        """The RFC 9421 names of the algorithms that this key can verify.

        `kty` and `crv` decide, and `alg` if the JWK has it. This `alg` may also be an RFC 9421 name. An RSA key without
        `alg` has two algorithms.
        """
        return frozenset(self._verifiers)

    @property
    def signature_lengths(self) -> frozenset[int]:
        """The number of bytes of a signature by each of its algorithms. The one of RSA is that of the modulus."""
        # The class of PKCS #1 is a subclass of the one of PSS.
        lengths = {_LENGTHS[name] for name in self._verifiers if name in _LENGTHS}
        for verifier in self._verifiers.values():
            if isinstance(verifier, RSA_PSS_SHA512):
                key = cast("RSAPublicKey", verifier.public_key)  # pyright: ignore[reportUnknownMemberType]
                lengths.add((key.key_size + 7) // 8)
        return frozenset(lengths)

    @property
    def declared(self) -> str:
        """What the key says it is for, in words for a log: text of its publisher."""
        members = {
            "use": self.use,
            "key_ops": " ".join(sorted(self.operations)),
            "adcp_use": " ".join(sorted(self.purposes)),
            "kid": self.keyid,
            "thumbprint": self.thumbprint,
        }
        algorithms = " or ".join(sorted(self._verifiers)) or "no usable algorithm"
        return ", ".join([algorithms, *(f"{name} {value or '(none)'}" for name, value in members.items())])

    def with_owner(self, owner: str) -> VerificationKey:
        """Return this key as a key of `owner`."""
        return replace(self, owner=owner)

    def for_tests(self) -> VerificationKey:
        """Return this key, to be accepted although it may be a published test key: for tests and sandboxes only."""
        return replace(self, fault="") if self.fault == TEST_KEY_FAULT else self

    def misuse(self, algorithm: str, rule: KeyRule) -> str:
        """Return all that keeps this key from verifying a signature of `algorithm`, or "" (AdCP step 8).

        Args:
            algorithm: the signature's `alg`, or "" if the signature has none.
            rule: what the profile asks of a key.
        """
        if self.fault:
            return self.fault
        faults: list[str] = []
        if rule.is_declared and not self.algorithm:
            expected = " or ".join(sorted(ALGS.get(name, name) for name in self._verifiers))
            faults.append(f"the JWK has no registered alg: expected {expected}")
        if self.use != "sig" and (self.use or rule.is_declared):
            faults.append("the JWK's use is not sig")
        if "verify" not in self.operations and (self.operations or rule.is_declared):
            faults.append("the JWK's key_ops does not include verify")
        if rule.purposes and self.purposes.isdisjoint(rule.purposes):
            faults.append(f"the JWK's adcp_use does not include {' or '.join(sorted(rule.purposes))}")
        if rule.is_thumbprint and self.thumbprint != self.keyid:
            faults.append("the keyid is not the thumbprint of the key")
        if (
            not faults
            and algorithm
            and algorithm != self.algorithm
            and (self.algorithm or algorithm not in self._verifiers)
        ):
            faults.append("the JWK's algorithm is not the signature's alg")
        return "; ".join(faults)

    def unfit(self, profile: Profile) -> str:
        """Return why this key can verify no signature of a profile, or ""."""
        fitting = sorted(profile.algorithms.intersection(self._verifiers))
        if not fitting:
            return self.fault or f"the profile accepts {', '.join(sorted(profile.algorithms))} only"
        faults = [self.misuse(algorithm, profile.key) for algorithm in fitting]
        return "" if "" in faults else faults[0]

    def only_algorithm(self, accepted: frozenset[str]) -> str:
        """Return the one algorithm of `accepted` that this key is for, or "" if there is none, or several."""
        if self.algorithm:
            return self.algorithm if self.algorithm in accepted else ""
        fitting = accepted.intersection(self._verifiers)
        return next(iter(fitting)) if len(fitting) == 1 else ""

    def with_other_hashes(self) -> Iterator[tuple[str, VerificationKey]]:
        """Yield this ECDSA or RSA key with each hash and padding, as signers misuse it, and the name of each."""
        for (name, verifier), one in product(self._verifiers.items(), _HASHES):
            other, words = copy(verifier), one.name.upper()
            if isinstance(other, (ECDSA_P256_SHA256, ECDSA_P384_SHA384)):
                other.signature_algorithm = ec.ECDSA(one)
                yield f"ECDSA and {words}", replace(self, _verifiers={name: other})
            elif isinstance(other, RSA_PSS_SHA512):
                other.hash_algorithm = one
                is_pss = name == RSA_PSS_SHA512.algorithm_id
                other.padding = padding.PSS(padding.MGF1(one), padding.PSS.AUTO) if is_pss else padding.PKCS1v15()
                yield f"{'PSS' if is_pss else 'PKCS #1 v1.5'} and {words}", replace(self, _verifiers={name: other})

    def verifies(self, signature: bytes, base: bytes, *, algorithm: str | None = None) -> bool:
        """Return whether this key verifies `signature` over `base` (RFC 9421 section 3.3).

        Args:
            signature: the bytes of the signature.
            base: the signature base.
            algorithm: the RFC 9421 name of the algorithm. Without it, a key of several algorithms verifies nothing.
        """
        if algorithm is None and len(self._verifiers) == 1:
            [algorithm] = self._verifiers
        verifier = self._verifiers.get(algorithm or "")
        if verifier is None:
            return False
        try:
            verifier.verify(signature, base)
        except (InvalidSignature, HTTPMessageSignaturesException):
            return False
        return True

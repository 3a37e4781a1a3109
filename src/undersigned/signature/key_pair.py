"""A key pair as JWKs: a private one, and a set with the public one (RFC 7517, RFC 8037, AdCP key publication)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from undersigned.errors import ConfigurationError
from undersigned.limits import LEAST_RSA_BITS
from undersigned.message.structured_fields import base64url
from undersigned.signature.jwk import ALGS, base64url_integer, public_jwk, thumbprint
from undersigned.signature.key_source import KeySet
from undersigned.signature.pem import read_private_pem
from undersigned.signature.signing_key import SigningKey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.signature.jwk import PrivateKey

Algorithm: TypeAlias = Literal["ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "rsa-pss-sha512", "rsa-v1_5-sha256"]
"""A signature algorithm with a public key, by its RFC 9421 name. The AdCP profiles accept the first two."""

_EXPONENT = 65537


@dataclass(slots=True)
class KeyPair:
    """A key pair: a private JWK for the signer, and a JWK set to publish for verifiers.

    `KeyPair.generate()` makes one, for example for a test: sign with `pair.signing_key()`, and verify with
    `pair.key_set()`. `KeyPair.from_pem(pem)` has the JWKs of a key that you have already, such as the set to publish.

    Attributes:
        private: the private JWK. It is secret, so it is not in the repr.
        public: the JWK set to publish.
    """

    private: Mapping[str, object] = field(repr=False)
    public: Mapping[str, object]

    @classmethod
    def generate(cls, algorithm: Algorithm = "ed25519", *, keyid: str | None = None) -> KeyPair:
        """Make a new pair for request signing.

        Args:
            algorithm: the signature algorithm, by its RFC 9421 name.
            keyid: the `kid`, or None for the thumbprint of the public key (RFC 7638).

        Raises:
            ConfigurationError: `algorithm` is another one, or `keyid` is not printable ASCII.
        """
        if algorithm not in _GENERATORS:
            raise ConfigurationError(f"algorithm: give one of {', '.join(_GENERATORS)}")
        return cls.from_private_key(_GENERATORS[algorithm](), keyid=keyid, algorithm=algorithm)

    @classmethod
    def from_private_key(
        cls, key: PrivateKey, *, keyid: str | None = None, algorithm: Algorithm | None = None
    ) -> KeyPair:
        """Make the pair for request signing of a private key of the cryptography package.

        Args:
            key: the private key, of a kind that `SigningKey.from_private_key` takes.
            keyid: the `kid`, or None for the thumbprint of the public key (RFC 7638).
            algorithm: the RFC 9421 name of its algorithm. Only an RSA key has more than one, and needs it.

        Raises:
            ConfigurationError: the key is of another kind, or `keyid` is not printable ASCII.
        """
        signing = SigningKey.from_private_key(key, keyid="k" if keyid is None else keyid, algorithm=algorithm)
        public = public_jwk(key.public_key())
        named = {"kid": thumbprint(public) if keyid is None else keyid, **public, "alg": ALGS[signing.algorithm]}
        named["use"] = "sig"
        private = {**named, "key_ops": ["sign"], "adcp_use": "request-signing", **_members(key)}
        return cls(private, {"keys": [{**named, "key_ops": ["verify"], "adcp_use": "request-signing"}]})

    @classmethod
    def from_pem(
        cls,
        pem: bytes | str,
        *,
        keyid: str | None = None,
        password: bytes | None = None,
        algorithm: Algorithm | None = None,
    ) -> KeyPair:
        """Make the pair of a private key in PEM (PKCS #8, RFC 7468 sections 10 and 11); as `from_private_key`.

        Raises:
            ConfigurationError: there is no such key, or `password` does not fit it. Nothing of it is in the message.
        """
        return cls.from_private_key(read_private_pem(pem, password), keyid=keyid, algorithm=algorithm)

    def signing_key(self) -> SigningKey:
        """Return the private key, for a `Signer`."""
        return SigningKey.from_jwk(self.private)

    def key_set(self) -> KeySet:
        """Return the public key as a key source, for a `Verifier`."""
        return KeySet.from_jwks(self.public)


_GENERATORS: Final[Mapping[Algorithm, Callable[[], PrivateKey]]] = {
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "ecdsa-p256-sha256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ecdsa-p384-sha384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "rsa-pss-sha512": lambda: rsa.generate_private_key(_EXPONENT, LEAST_RSA_BITS),
    "rsa-v1_5-sha256": lambda: rsa.generate_private_key(_EXPONENT, LEAST_RSA_BITS),
}


def _members(key: PrivateKey) -> dict[str, str]:
    """Return the private members of a key's JWK (RFC 7518 section 6, RFC 8037 section 2)."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return {"d": base64url(key.private_bytes_raw())}
    if isinstance(key, rsa.RSAPrivateKey):
        numbers = key.private_numbers()
        factors = {"d": numbers.d, "p": numbers.p, "q": numbers.q}
        factors |= {"dp": numbers.dmp1, "dq": numbers.dmq1, "qi": numbers.iqmp}
        return {name: base64url_integer(number) for name, number in factors.items()}
    length = -(-key.key_size // 8)
    return {"d": base64url(key.private_numbers().private_value.to_bytes(length, "big"))}

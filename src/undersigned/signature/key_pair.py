"""A key pair as JWKs: a private one, and a set with the public one (RFC 7517, RFC 8037, AdCP key publication)."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from undersigned.errors import ConfigurationError
from undersigned.signature.key_source import KeySet
from undersigned.signature.keys import SigningKey
from undersigned.signature.thumbprint import thumbprint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Algorithm: TypeAlias = Literal["ed25519", "ecdsa-p256-sha256"]
"""A signature algorithm by its RFC 9421 name."""

_COORDINATE = 32


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A key pair: a private JWK for the signer, and a JWK set to publish for verifiers.

    `KeyPair.generate()` makes one, for example for a test: sign with `pair.signing_key()`, and verify with
    `pair.key_set()`.

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
        key, secret = _GENERATORS[algorithm]()
        named = {"kid": thumbprint(key) if keyid is None else keyid, **key, "use": "sig"}
        private = {**named, "key_ops": ["sign"], "adcp_use": "request-signing", "d": secret}
        SigningKey.from_jwk(private)
        return cls(private, {"keys": [{**named, "key_ops": ["verify"], "adcp_use": "request-signing"}]})

    def signing_key(self) -> SigningKey:
        """Return the private key, for a `Signer`."""
        return SigningKey.from_jwk(self.private)

    def key_set(self) -> KeySet:
        """Return the public key as a key source, for a `Verifier`."""
        return KeySet.from_jwks(self.public)


def _ed25519() -> tuple[dict[str, str], str]:
    private = ed25519.Ed25519PrivateKey.generate()
    public = _base64url(private.public_key().public_bytes_raw())
    return {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "x": public}, _base64url(private.private_bytes_raw())


def _p256() -> tuple[dict[str, str], str]:
    private = ec.generate_private_key(ec.SECP256R1()).private_numbers()
    point = private.public_numbers
    public = {"kty": "EC", "crv": "P-256", "alg": "ES256", "x": _coordinate(point.x), "y": _coordinate(point.y)}
    return public, _coordinate(private.private_value)


_GENERATORS: Final[Mapping[Algorithm, Callable[[], tuple[dict[str, str], str]]]] = {
    "ed25519": _ed25519,
    "ecdsa-p256-sha256": _p256,
}


def _coordinate(number: int) -> str:
    return _base64url(number.to_bytes(_COORDINATE, "big"))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")

"""Signing keys: private keys and shared secrets, each with a name, a purpose and one algorithm (RFC 9421, 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from undersigned.errors import ConfigurationError
from undersigned.signature.algorithms import BY_NAME, algorithm_for
from undersigned.signature.jwk import (
    JWK,
    SHARED_SECRET,
    UnusableKey,
    algorithm_of,
    private_key_of,
    public_jwk,
    read_secret,
    secret_of,
    texts_of,
    thumbprint,
)
from undersigned.signature.pem import read_key_file, read_private_pem

if TYPE_CHECKING:
    from os import PathLike

    from http_message_signatures.algorithms import HTTPSignatureAlgorithm

    from undersigned.signature.jwk import PrivateKey

_GIVE: Final = "give the private JWK, such as keys/private.jwk.json"
_Purposes: TypeAlias = Iterable[str]


@dataclass(slots=True, eq=False)
class SigningKey:
    """A private key and its `kid`. Its repr shows no key material. A key equals only itself.

    Attributes:
        keyid: the JWK's `kid`, sent as the `keyid` parameter.
        algorithm: the RFC 9421 algorithm name.
        purposes: the JWK's `adcp_use`; empty if the JWK names none.
        thumbprint: the JWK thumbprint (RFC 7638) of the public key, or "" if the key is a shared secret.
    """

    keyid: str
    algorithm: str
    purposes: frozenset[str]
    _signer: HTTPSignatureAlgorithm = field(repr=False)
    thumbprint: str = field(default="", repr=False)

    @classmethod
    def from_jwk(cls, jwk: JWK) -> SigningKey:
        """Make a key of a private JWK: `kid`, `kty`, `alg`, and the members of its kind, `d` or `k` among them.

        `alg` is the registered name or the RFC 9421 name. Only an RSA key needs it.

        Raises:
            ConfigurationError: a member is absent or does not fit the others. No member's value is in the message.
        """
        if not isinstance(jwk, Mapping):
            raise ConfigurationError("the signing JWK must be a JSON object, as json.loads reads it")
        if "keys" in jwk and "kty" not in jwk:
            raise ConfigurationError(f"the signing JWK is a JWK set, which is for verifiers: {_GIVE}")
        keyid = jwk.get("kid")
        if not is_keyid(keyid):
            raise ConfigurationError("the signing JWK needs a kid of printable ASCII: the verifier looks it up by kid")
        try:
            name = algorithm_of(jwk)
            private = None if name == SHARED_SECRET else private_key_of(jwk)
            signer = BY_NAME[name](private_key=secret_of(jwk) if private is None else private)
        except UnusableKey as unusable:
            advice = "" if "d" in jwk or "k" in jwk else f"; it has no private member: {_GIVE}"
            raise ConfigurationError(f"the signing JWK cannot be used: {unusable}{advice}") from None
        own = "" if private is None else _thumbprint(private)
        return cls(cast("str", keyid), name, texts_of(jwk.get("adcp_use")), _signer=signer, thumbprint=own)

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], *, keyid: str | None = None, password: bytes | None = None
    ) -> SigningKey:
        """Read a key from a file: a private JWK, or a private key in PEM of any kind but RSA.

        Args:
            path: the file.
            keyid: what is sent as the `keyid` parameter. A PEM needs it; a JWK has it as `kid`.
            password: the password of an encrypted PEM.

        Raises:
            ConfigurationError: the file cannot be read or has no such key. Nothing of it is in the message.
        """
        read = read_key_file(path, keyid=keyid, expected="a private JWK or a private key in PEM")
        if isinstance(read, bytes):
            return cls.from_pem(read, keyid=keyid or "", password=password)
        jwk = cast("JWK", read)
        return cls.from_jwk({**jwk, "kid": keyid} if keyid is not None and isinstance(read, Mapping) else jwk)

    @classmethod
    def from_private_key(
        cls,
        key: PrivateKey,
        *,
        keyid: str,
        purposes: _Purposes = ("request-signing",),
        algorithm: str | None = None,
    ) -> SigningKey:
        """Make a key of an Ed25519, P-256, P-384 or RSA private key of the cryptography package.

        Args:
            key: the private key.
            keyid: what is sent as the `keyid` parameter.
            purposes: what it may sign (AdCP `adcp_use`).
            algorithm: the RFC 9421 name of its algorithm. Only an RSA key has more than one, and needs it.

        Raises:
            ConfigurationError: the key is of another kind, or `keyid` is not printable ASCII.
        """
        name = algorithm_for(key, private=True, algorithm=algorithm)
        return cls._of(BY_NAME[name](private_key=key), keyid, purposes, _thumbprint(key))

    @classmethod
    def from_pem(
        cls,
        pem: bytes | str,
        *,
        keyid: str,
        password: bytes | None = None,
        purposes: _Purposes = ("request-signing",),
        algorithm: str | None = None,
    ) -> SigningKey:
        """Make a key of a private key in PEM (PKCS #8, RFC 7468 sections 10 and 11); as `from_private_key`.

        Raises:
            ConfigurationError: there is no such key, or `password` does not fit it. Nothing of it is in the message.
        """
        key = read_private_pem(pem, password)
        return cls.from_private_key(key, keyid=keyid, purposes=purposes, algorithm=algorithm)

    @classmethod
    def from_secret(cls, secret: bytes | JWK, *, keyid: str, purposes: _Purposes = ("request-signing",)) -> SigningKey:
        """Make a key for hmac-sha256; as `VerificationKey.from_secret`, but `keyid` must be printable ASCII."""
        return cls._of(BY_NAME[SHARED_SECRET](private_key=read_secret(secret)), keyid, purposes)

    @classmethod
    def _of(cls, signer: HTTPSignatureAlgorithm, keyid: str, purposes: _Purposes, thumbprint: str = "") -> SigningKey:
        if not is_keyid(keyid):
            raise ConfigurationError("keyid: give printable ASCII: the verifier looks the key up by it")
        return cls(keyid, signer.algorithm_id, frozenset(purposes), _signer=signer, thumbprint=thumbprint)

    def sign(self, base: bytes) -> bytes:
        """Return the signature over `base` (RFC 9421 section 3.3); ECDSA as r and s, with leading zeros."""
        return cast("bytes", self._signer.sign(base))


def _thumbprint(key: PrivateKey) -> str:
    return thumbprint(public_jwk(key.public_key())) or ""


def is_keyid(value: object) -> bool:
    """Return whether `value` can be the `keyid` parameter: printable ASCII."""
    return isinstance(value, str) and bool(value) and value.isascii() and value.isprintable()

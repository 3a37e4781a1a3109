"""The public JWK of a key: its members, and the JWK set of a public key in PEM (RFC 7517, RFC 7518, RFC 8037)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from undersigned.errors import ConfigurationError
from undersigned.message.structured_fields import base64url
from undersigned.signature.algorithms import RSA, algorithm_for
from undersigned.signature.jwk import read_public_pem, thumbprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned.signature.jwk import PublicKey

ALGS: Final[Mapping[str, str]] = {
    "ed25519": "EdDSA",
    "ecdsa-p256-sha256": "ES256",
    "ecdsa-p384-sha384": "ES384",
    "rsa-pss-sha512": "PS512",
    "rsa-v1_5-sha256": "RS256",
}
"""The registered `alg` of each algorithm, by its RFC 9421 name."""


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
    return {"kty": "EC", "crv": f"P-{key.key_size}", "x": x, "y": y}


def pem_jwks(
    pem: bytes | str, *, keyid: str | None = None, purposes: Iterable[str] = ("request-signing",)
) -> dict[str, object]:
    """Return the JWK set of a public key in PEM (RFC 7468 section 13, or PKCS #1 for RSA).

    An RSA key has no `alg`: a PEM does not say which of the two it is for.

    Args:
        pem: the text.
        keyid: the `kid`, or None for the thumbprint of the key (RFC 7638).
        purposes: what the key may verify (AdCP `adcp_use`), one at least.

    Raises:
        ConfigurationError: there is no such key, or there are several.
    """
    key = read_public_pem(pem)
    if (pem.encode("utf-8", "surrogatepass") if isinstance(pem, str) else pem).count(b"-----BEGIN ") > 1:
        raise ConfigurationError("pem: it has several keys, and does not name them; give a JWK set")
    # Which of the two algorithms of an RSA key is asked for does not matter: the check of the key is the same.
    name = algorithm_for(key, private=False, algorithm=RSA[0] if isinstance(key, rsa.RSAPublicKey) else None)
    members = public_jwk(key)
    alg = {} if name in RSA else {"alg": ALGS[name]}
    kid = thumbprint(members) if keyid is None else keyid
    first, *more = sorted(purposes)
    uses = {"use": "sig", "key_ops": ["verify"], "adcp_use": [first, *more] if more else first}
    return {"keys": [{"kid": kid, **members, **alg, **uses}]}


def base64url_integer(number: int) -> str:
    """Return a number in Base64urlUInt (RFC 7518 section 2)."""
    return base64url(number.to_bytes(-(-number.bit_length() // 8), "big"))

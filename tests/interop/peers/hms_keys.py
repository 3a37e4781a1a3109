"""The keys of http-message-signatures of PyPI, made of JWKs."""

from __future__ import annotations

import base64

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from http_message_signatures import MappingKeyResolver, algorithms

ALGORITHMS = {
    algorithm.algorithm_id: algorithm
    for algorithm in (
        algorithms.ED25519,
        algorithms.ECDSA_P256_SHA256,
        algorithms.ECDSA_P384_SHA384,
        algorithms.RSA_PSS_SHA512,
        algorithms.RSA_V1_5_SHA256,
        algorithms.HMAC_SHA256,
    )
}


def data(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(text: str) -> int:
    return int.from_bytes(data(text), "big")


def private_key(jwk: dict[str, str]):
    if jwk["kty"] == "oct":
        return data(jwk["k"])
    if jwk["kty"] == "OKP":
        return ed25519.Ed25519PrivateKey.from_private_bytes(data(jwk["d"]))
    if jwk["kty"] == "EC":
        curve = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1()}[jwk["crv"]]
        return ec.derive_private_key(number(jwk["d"]), curve)
    public = rsa.RSAPublicNumbers(number(jwk["e"]), number(jwk["n"]))
    p, q, d, dp, dq, qi = (number(jwk[name]) for name in ("p", "q", "d", "dp", "dq", "qi"))
    return rsa.RSAPrivateNumbers(p, q, d, dp, dq, qi, public).private_key()


def resolver(keys: dict[str, dict[str, str]]) -> MappingKeyResolver:
    private = {keyid: private_key(jwk) for keyid, jwk in keys.items()}
    public = {keyid: key if isinstance(key, bytes) else key.public_key() for keyid, key in private.items()}
    return MappingKeyResolver(public_keys=public, private_keys=private)


def algorithm_in(fields: list[tuple[str, str]], keys: dict[str, dict[str, str]]):
    """The algorithm of the key that a message names."""
    [given] = [value for name, value in fields if name.lower() == "signature-input"]
    [jwk] = [jwk for keyid, jwk in keys.items() if f'keyid="{keyid}"' in given]
    return ALGORITHMS[jwk["algorithm"]]

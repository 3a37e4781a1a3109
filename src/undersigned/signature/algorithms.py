"""Signature algorithms by their RFC 9421 names, and the keys that each of them takes (RFC 9421 section 3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from http_message_signatures.algorithms import (
    ECDSA_P256_SHA256,
    ECDSA_P384_SHA384,
    HMAC_SHA256,
    RSA_PSS_SHA512,
    RSA_V1_5_SHA256,
    HTTPSignatureAlgorithm,
)

from undersigned.errors import ConfigurationError
from undersigned.signature.ed25519 import Ed25519, point_fault
from undersigned.signature.jwk import rsa_fault

if TYPE_CHECKING:
    from collections.abc import Mapping

BY_NAME: Final[Mapping[str, type[HTTPSignatureAlgorithm]]] = {
    algorithm.algorithm_id: algorithm
    for algorithm in (Ed25519, ECDSA_P256_SHA256, ECDSA_P384_SHA384, RSA_PSS_SHA512, RSA_V1_5_SHA256, HMAC_SHA256)
}
"""The implementation of each algorithm."""

ALGORITHMS: frozenset[str] = frozenset(BY_NAME)
"""The RFC 9421 names of the algorithms a key can have. A profile accepts some of them."""

RSA: Final = (RSA_PSS_SHA512.algorithm_id, RSA_V1_5_SHA256.algorithm_id)
"""The two algorithms of an RSA key."""

_CURVES: Final[Mapping[type[ec.EllipticCurve], str]] = {
    ec.SECP256R1: ECDSA_P256_SHA256.algorithm_id,
    ec.SECP384R1: ECDSA_P384_SHA384.algorithm_id,
}


def algorithm_for(key: object, *, private: bool, algorithm: str | None) -> str:
    """Return the algorithm of a key of the cryptography package, after checking that the key is fit for it.

    Args:
        key: the key.
        private: whether a private key is asked for, and not a public one.
        algorithm: the RFC 9421 name, or None if the key has only one algorithm.

    Raises:
        ConfigurationError: the key is of another kind, is weak, or is not for `algorithm`, or an RSA key has none.
    """
    known = _algorithms(key, private=private)
    if not known:
        kind = "a private" if private else "a public"
        raise ConfigurationError(f"key: give {kind} key of the cryptography package, for Ed25519, P-256, P-384 or RSA")
    fault = _fault(key)
    if fault:
        raise ConfigurationError(f"key: {fault}")
    if algorithm is None and len(known) > 1:
        raise ConfigurationError(f"algorithm: an RSA key needs one of {', '.join(known)}")
    if algorithm is not None and algorithm not in known:
        raise ConfigurationError(f"algorithm: this key can be used with {' or '.join(known)}")
    return algorithm or next(iter(known))


def _algorithms(key: object, *, private: bool) -> tuple[str, ...]:
    edwards, elliptic, factoring = (
        (ed25519.Ed25519PrivateKey, ec.EllipticCurvePrivateKey, rsa.RSAPrivateKey)
        if private
        else (ed25519.Ed25519PublicKey, ec.EllipticCurvePublicKey, rsa.RSAPublicKey)
    )
    if isinstance(key, edwards):
        return (Ed25519.algorithm_id,)
    if isinstance(key, factoring):
        return RSA
    if isinstance(key, elliptic):
        name = _CURVES.get(type(cast("ec.EllipticCurvePublicKey", key).curve))
        return () if name is None else (name,)
    return ()


def _fault(key: object) -> str:
    if isinstance(key, ed25519.Ed25519PublicKey):
        return point_fault(key.public_bytes_raw())
    if isinstance(key, rsa.RSAPrivateKey):
        key = key.public_key()
    if isinstance(key, rsa.RSAPublicKey):
        numbers = key.public_numbers()
        return rsa_fault(numbers.n, numbers.e)
    return ""

"""Signature algorithms by their RFC 9421 names, and the keys that each of them takes (RFC 9421 section 3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from http_message_signatures.algorithms import (
    ECDSA_P256_SHA256,
    ECDSA_P384_SHA384,
    HMAC_SHA256,
    RSA_PSS_SHA512,
    RSA_V1_5_SHA256,
    HTTPSignatureAlgorithm,
)

from undersigned.errors import ConfigurationError
from undersigned.signature.ed25519 import Ed25519
from undersigned.signature.jwk import PrivateKey, PublicKey, UnusableKey, algorithms_of, public_jwk, public_key_of

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


def algorithm_for(key: object, *, private: bool, algorithm: str | None) -> str:
    """Return the algorithm of a key of the cryptography package, after checking that the key is fit for it.

    Args:
        key: the key.
        private: whether a private key is asked for, and not a public one.
        algorithm: the RFC 9421 name, or None if the key has only one algorithm.

    Raises:
        ConfigurationError: the key is of another kind, is weak, or is not for `algorithm`, or an RSA key has none.
    """
    public = key.public_key() if isinstance(key, PrivateKey) else key
    is_fit = isinstance(public, PublicKey) and private == isinstance(key, PrivateKey)
    jwk = public_jwk(cast("PublicKey", public)) if is_fit else {}
    try:
        known = sorted(algorithms_of(jwk))
    except UnusableKey:
        kind = "a private" if private else "a public"
        raise ConfigurationError(
            f"key: give {kind} key of the cryptography package, for Ed25519, P-256, P-384 or RSA"
        ) from None
    try:
        public_key_of(jwk)
    except UnusableKey as unusable:
        raise ConfigurationError(f"key: {unusable}") from None
    if algorithm is None and len(known) > 1:
        raise ConfigurationError(f"algorithm: an RSA key needs one of {', '.join(known)}")
    if algorithm is not None and algorithm not in known:
        raise ConfigurationError(f"algorithm: this key can be used with {' or '.join(known)}")
    return algorithm or known[0]

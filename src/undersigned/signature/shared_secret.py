"""Shared secrets: the keys of hmac-sha256, which only the two parties have (RFC 9421 section 3.3.3)."""

from __future__ import annotations

from collections.abc import Mapping

from undersigned.errors import ConfigurationError
from undersigned.limits import LEAST_SECRET_BYTES
from undersigned.signature.algorithms import SHARED_SECRET
from undersigned.signature.jwk import JWK, UnusableKey, algorithms_of, secret_of


def read_secret(secret: bytes | JWK) -> bytes:
    """Return the bytes of a shared secret: 32 bytes or more, or those of a JWK whose `kty` is oct.

    Raises:
        ConfigurationError: the secret is too short, or not one. Nothing of it is in the message.
    """
    if isinstance(secret, bytes):
        if len(secret) >= LEAST_SECRET_BYTES:
            return secret
        raise ConfigurationError(f"secret: give at least {LEAST_SECRET_BYTES} random bytes")
    if not isinstance(secret, Mapping):
        raise ConfigurationError("secret: give bytes, or a JWK whose kty is oct")
    try:
        if SHARED_SECRET in algorithms_of(secret):
            return secret_of(secret)
    except UnusableKey as unusable:
        raise ConfigurationError(f"secret: the JWK cannot be used: {unusable}") from None
    raise ConfigurationError("secret: the JWK's kty is not oct")

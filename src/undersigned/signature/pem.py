"""Keys in PEM: the text of one key, read into a key of the cryptography package (RFC 7468)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from undersigned.errors import ConfigurationError

if TYPE_CHECKING:
    from os import PathLike

    from undersigned.signature.jwk import PrivateKey, PublicKey


def is_pem(text: bytes) -> bool:
    """Return whether a text has a PEM block, and is not JSON."""
    return b"-----BEGIN " in text and not text.lstrip().startswith((b"{", b"["))


def read_key_file(path: str | PathLike[str]) -> bytes:
    """Return the text of a file with a key.

    Raises:
        ConfigurationError: it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"path: {path} cannot be read: {error.strerror}") from None


def read_public_pem(pem: bytes | str) -> PublicKey:
    """Return the public key in a PEM text, which may be of another kind than a verifier can use.

    Raises:
        ConfigurationError: there is no key.
    """
    try:
        key = serialization.load_pem_public_key(_octets(pem))
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigurationError("pem: expected one public key, -----BEGIN PUBLIC KEY-----") from None
    return cast("PublicKey", key)


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


def _octets(pem: object) -> bytes:
    if isinstance(pem, str):
        return pem.encode("utf-8", "surrogatepass")
    if isinstance(pem, bytes):
        return pem
    raise ConfigurationError("pem: give the text of a PEM file, as str or bytes")

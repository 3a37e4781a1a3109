"""Keys in PEM, and files with keys in PEM or JSON (RFC 7468)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from undersigned.errors import ConfigurationError
from undersigned.signature.algorithms import RSA, algorithm_for
from undersigned.signature.jwk import ALGS, public_jwk, thumbprint

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from undersigned.signature.jwk import PrivateKey, PublicKey


def is_pem(text: bytes) -> bool:
    """Return whether a text has a PEM block, and is not JSON."""
    return b"-----BEGIN " in text and not text.lstrip().startswith((b"{", b"["))


def read_key_file(path: str | PathLike[str], *, keyid: str | None, expected: str) -> object:
    """Return the PEM in a file, as bytes, or the JSON in it.

    Args:
        path: the file.
        keyid: the key id of a key in PEM, which has none.
        expected: what the file has to be.

    Raises:
        ConfigurationError: it cannot be read, is neither, or is a PEM without `keyid`.
    """
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"path: {path} cannot be read: {error.strerror}") from None
    if not is_pem(text):
        try:
            return json.loads(text)
        except ValueError:
            raise ConfigurationError(f"path: {path} is not {expected}") from None
    if keyid is None:
        raise ConfigurationError(f"keyid: {path} is a PEM, which has no key id: pass keyid=")
    return text


def read_public_pem(pem: bytes | str) -> PublicKey:
    """Return the public key in a PEM text, which may be of another kind than a verifier can use.

    Raises:
        ConfigurationError: there is no key.
    """
    try:
        key = serialization.load_pem_public_key(_pem_octets(pem))
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigurationError("pem: expected one public key, -----BEGIN PUBLIC KEY-----") from None
    return cast("PublicKey", key)


def read_private_pem(pem: bytes | str, password: bytes | None) -> PrivateKey:
    """Return the private key in a PEM text, which may be of another kind than a signer can use.

    Raises:
        ConfigurationError: there is no key, or `password` does not fit it. Nothing of it is in the message.
    """
    try:
        key = serialization.load_pem_private_key(_pem_octets(pem), password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ConfigurationError("pem: expected one private key, and its password if it is encrypted") from None
    return cast("PrivateKey", key)


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


def _pem_octets(pem: object) -> bytes:
    if isinstance(pem, str):
        return pem.encode("utf-8", "surrogatepass")
    if isinstance(pem, bytes):
        return pem
    raise ConfigurationError("pem: give the text of a PEM file, as str or bytes")

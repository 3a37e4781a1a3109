"""Keys in PEM, and files with keys in PEM or JSON (RFC 7468)."""

from __future__ import annotations

import json
import re
from binascii import a2b_base64, b2a_base64
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from undersigned.errors import ConfigurationError
from undersigned.signature.algorithms import RSA, algorithm_for
from undersigned.signature.jwk import ALGS, public_jwk, thumbprint

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from undersigned.signature.jwk import PrivateKey, PublicKey

_BEGIN: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----")
_END: Final = re.compile(rb"-----END [A-Z0-9 ]+-----")
_BLOCK: Final = re.compile(rb"-----BEGIN PRIVATE KEY-----([^-]+)-----END")
_OPEN_SSH: Final = b2a_base64(b"openssh-key-v1\0\0\0\0\x04none\0")[:-1]
"""How the contents of an OpenSSH key begin if it has no password."""
_BARE: Final = re.compile(rb"[A-Za-z0-9+/_=\s-]+")
_VERSION_2: Final = re.compile(rb"\x30.\x02\x01\x01\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20(.{32})", re.DOTALL)
"""How an Ed25519 key begins in PKCS #8 of version 2 (RFC 5958 section 2, RFC 8410 section 7)."""

_OTHERS: Final = {
    "CERTIFICATE": "this is a certificate, and has a public key only: `openssl x509 -pubkey -noout` writes it",
    "CERTIFICATE REQUEST": "this is a certificate request: give the key that it was made with",
}


def is_pem(text: bytes) -> bool:
    """Return whether a text is meant to be a PEM block, and not JSON."""
    return b"-BEGIN " in text and not text.lstrip().startswith((b"{", b"["))


def form_of(text: bytes) -> str:
    """Return what a text is that is neither PEM nor the JSON that is expected, and what to do."""
    forms = {
        "it is empty": not text.strip(),
        "it is in UTF-16: save it as UTF-8": b"\0" in text[:4] and text[:1] != b"0",
        "it is an OpenSSH public key: `ssh-keygen -e -m PKCS8 -f FILE` writes it as PEM": text.startswith(
            (b"ssh-", b"ecdsa-")
        ),
        "it is DER: `openssl pkey -inform DER -in FILE` writes it as PEM": text[:1] == b"0" and not text.isascii(),
        "it is bare Base64 or hexadecimal: give the whole file, from its line -----BEGIN to its line -----END": bool(
            _BARE.fullmatch(text)
        ),
        "it is neither JSON nor PEM": text.lstrip()[:1] not in {b"{", b"[", b'"'},
    }
    return next((words for words, is_one in forms.items() if is_one), "it is not a JSON object without repeated keys")


def read_key_file(path: str | PathLike[str], *, keyid: str | None, expected: str) -> object:
    """Return the PEM in a file, as bytes, or the JSON in it.

    Args:
        path: the file.
        keyid: the key ID of a key in PEM, which has none.
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
            raise ConfigurationError(f"path: {path} is not {expected}: {form_of(text)}") from None
    if keyid is None:
        raise ConfigurationError(f"keyid: {path} is a PEM, which has no key ID: pass keyid=")
    return text


def read_public_pem(pem: bytes | str) -> PublicKey:
    """Return the public key in a PEM text, which may be of another kind than a verifier can use.

    Raises:
        ConfigurationError: there is no key. The message names what the text is instead.
    """
    octets = _pem_octets(pem)
    try:
        key = serialization.load_pem_public_key(octets)
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigurationError(f"pem: {_fault(octets, 'PUBLIC')}") from None
    return cast("PublicKey", key)


def read_private_pem(pem: bytes | str, password: bytes | None) -> PrivateKey:
    """Return the private key in a PEM text, which may be of another kind than a signer can use.

    It is PKCS #8 of either version (RFC 5958), PKCS #1, SEC 1, or OpenSSH's.

    Raises:
        ConfigurationError: there is no key, or `password` does not fit it. The message names what the text is instead,
            and has nothing of it.
    """
    octets = _pem_octets(pem)
    load = serialization.load_ssh_private_key if b"OPENSSH" in octets else serialization.load_pem_private_key
    try:
        return cast("PrivateKey", load(octets, password))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        seed = None if password is not None else _seed_of_version_2(octets)
    if seed is None:
        raise ConfigurationError(f"pem: {_fault(octets, 'PRIVATE', password)}")
    return ed25519.Ed25519PrivateKey.from_private_bytes(seed)


def _fault(pem: bytes, expected: Literal["PUBLIC", "PRIVATE"], password: bytes | None = None) -> str:
    """Return what a PEM text is instead of a key that can be read, and what to do."""
    line = f"-----BEGIN {expected} KEY-----"
    begin = _BEGIN.search(pem)
    if begin is None:
        return f"there is no whole first line {line}: give the whole file, with five dashes on both sides"
    label = begin[1].decode("ascii")
    if _END.search(pem, begin.end()) is None:
        return f"there is no whole last line -----END {label}-----: the text is cut off, or has lost a dash"
    other = "PRIVATE" if expected == "PUBLIC" else "PUBLIC"
    if label in _OTHERS or (other in label and expected not in label):
        half = f"this is a {other.lower()} key: give the {expected.lower()} one, which begins with {line}"
        return _OTHERS.get(label, half)
    is_ssh = b"OPENSSH" in pem and _OPEN_SSH not in pem
    needed = "; for a key of OpenSSH, the package bcrypt is needed too" if is_ssh else ""
    if password is not None:
        return (
            "the password does not fit the key, or the key is not encrypted and needs none, or the text is damaged"
            + needed
        )
    if is_ssh or b"ENCRYPTED" in pem:
        return f"the key is encrypted: give its password, as password= or with --key-password{needed}"
    return f"what follows -----BEGIN {label}----- is no key that is read: it is damaged, cut or of another kind"


def _seed_of_version_2(pem: bytes) -> bytes | None:
    """Return the seed of an Ed25519 key that has its public key too, which the cryptography package does not read."""
    block = _BLOCK.search(pem)
    try:
        begin = _VERSION_2.match(a2b_base64(block[1])) if block is not None else None
    except ValueError:
        return None
    return None if begin is None else begin[1]


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
    """Return a PEM text as bytes. A line end may be two characters, as environment files have it."""
    octets = pem.encode("utf-8", "surrogatepass") if isinstance(pem, str) else pem
    if isinstance(octets, bytes):
        return octets.replace(b"\\r", b"").replace(b"\\n", b"\n")
    raise ConfigurationError("pem: give the text of a PEM file, as str or bytes")

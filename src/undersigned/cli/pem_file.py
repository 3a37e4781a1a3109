"""PEM files: whether a text has the one key that a command asks for, and the key ID that it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.signature.public_jwk import public_jwk
from undersigned.signature.thumbprint import thumbprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    import click

    from undersigned.cli.input_file import InputFile
    from undersigned.signature.jwk import PublicKey

_LABEL: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,64})-----")
_ENCRYPTED: Final = re.compile(rb"-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED", re.MULTILINE)
_CERTIFICATE: Final = "it is a certificate; give its public key: openssl x509 -pubkey -noout -in {file}"

_NOT_PRIVATE: Final[Mapping[bytes, str]] = {
    b"PUBLIC KEY": "it is a public key; give the private one",
    b"RSA PUBLIC KEY": "it is a public key; give the private one",
    b"CERTIFICATE": "it is a certificate; give the private key that belongs to it",
    b"OPENSSH PRIVATE KEY": "it is a private key in OpenSSH's own form; give one in PKCS #8",
}
_NOT_PUBLIC: Final[Mapping[bytes, str]] = {
    b"PRIVATE KEY": "it is a private key; give the public one: openssl pkey -pubout -in {file}",
    b"EC PRIVATE KEY": "it is a private key; give the public one: openssl pkey -pubout -in {file}",
    b"RSA PRIVATE KEY": "it is a private key; give the public one: openssl pkey -pubout -in {file}",
    b"ENCRYPTED PRIVATE KEY": "it is a private key; give the public one: openssl pkey -pubout -in {file}",
    b"CERTIFICATE": _CERTIFICATE,
}


def check_private_pem(file: InputFile, text: bytes) -> None:
    """Check that a PEM has nothing else than a private key without a password.

    Raises:
        click.BadParameter: it has something else. The message says what, and what to do.
    """
    if _ENCRYPTED.search(text):
        raise _wrong(file, "it is encrypted; give - instead, and decrypt it: openssl pkey -in {file} | undersigned ...")
    _check(file, text, _NOT_PRIVATE)


def check_public_pem(file: InputFile, text: bytes) -> None:
    """Check that a PEM has nothing else than a public key.

    Raises:
        click.BadParameter: it has something else. The message says what, and what to do.
    """
    _check(file, text, _NOT_PUBLIC)


def missing_keyid(file: InputFile, key: PublicKey) -> click.BadParameter:
    """Return the error for a PEM without `--keyid`. It names the kid that `undersigned keygen` would give the key."""
    return file.wrong(
        f"{file} is a PEM, which has no key ID: give the kid under which verifiers know the key, with --keyid. If the "
        f"kid was made by `undersigned keygen`, it is the key's thumbprint: --keyid {thumbprint(public_jwk(key))}"
    )


def _check(file: InputFile, text: bytes, others: Mapping[bytes, str]) -> None:
    for label in _LABEL.findall(text):
        if label in others:
            raise _wrong(file, others[label])


def _wrong(file: InputFile, message: str) -> click.BadParameter:
    return file.wrong(f"{file} cannot be used: {message.format(file=file)}")

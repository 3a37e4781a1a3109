"""Keys on the command line: a private key or the keys of a verifier, as JWK or PEM, in files that options name."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

import click
from cryptography.hazmat.primitives.asymmetric import rsa

from undersigned import profiles
from undersigned.cli.options import STANDARD_INPUT, file_name
from undersigned.errors import ConfigurationError
from undersigned.message.strict_json import loads
from undersigned.signature.algorithms import RSA
from undersigned.signature.jwk import public_jwk, thumbprint
from undersigned.signature.key_source import ExaminedKeys
from undersigned.signature.pem import is_pem, pem_jwks, read_private_pem, read_public_pem
from undersigned.signature.signing_key import SigningKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.strict_json import JSONValue
    from undersigned.signature.jwk import PublicKey
    from undersigned.signature.profile import Profile

    JSONObject: TypeAlias = Mapping[str, JSONValue]

_EVERY_PURPOSE: Final = frozenset[str]().union(*(profile.key.purposes for profile in profiles.BY_NAME.values()))
"""The purposes of a key in PEM. A PEM does not name a purpose, so the key may be used for each of them."""


class _KeyFile(click.File):
    """The type of `--key`, which says how to make a key if there is none."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """Return what to do without the option."""
        return "`undersigned keygen --out keys` makes a key pair; then give --key keys/private.jwk.json"


key_option = click.option(
    "--key",
    required=True,
    type=_KeyFile("rb"),
    metavar="FILE",
    envvar="UNDERSIGNED_KEY",
    help="Your private key: a JWK, such as private.jwk.json of `undersigned keygen`, or PEM. UNDERSIGNED_KEY in the "
    "environment can name the file instead.",
)
jwks_option = click.option(
    "--jwks",
    required=True,
    type=click.File("rb"),
    metavar="FILE",
    help="The public keys to verify with: a JWK set, such as public.jwks.json, a public JWK, or a public key in PEM.",
)
keyid_option = click.option(
    "--keyid",
    metavar="ID",
    help="For a key in PEM, which has no key ID: the kid under which verifiers know it.",
)


def warn_if_exposed(file: BinaryIO) -> None:
    """Write a warning if other users can read the file, which has a private key."""
    name = file_name(file)
    if name == STANDARD_INPUT or sys.platform == "win32":
        return
    mode = os.fstat(file.fileno()).st_mode
    # A pipe has these bits without meaning.
    if stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
        click.echo(
            f"Warning: other users can read the private key in {name} (mode {stat.S_IMODE(mode):04o}). "
            f"Change that: chmod 600 {name}",
            err=True,
        )


def read_signing_key(file: BinaryIO, profile: Profile, *, keyid: str | None) -> SigningKey:
    """Return the private key in a file. Write a warning if other users can read the file.

    An RSA key in PEM signs by rsa-pss-sha512, unless the profile accepts rsa-v1_5-sha256 only.

    Args:
        file: a private JWK, or a PEM.
        profile: the profile to sign by.
        keyid: the value of `--keyid`.

    Raises:
        click.BadParameter: the file has no such key. The message does not quote it.
    """
    text = file.read()
    try:
        key = _from_pem(text, profile, keyid) if is_pem(text) else _from_jwk(text, keyid)
    except ConfigurationError as error:
        raise _wrong(file, error, "--key") from None
    warn_if_exposed(file)
    return key


def read_key_set(file: BinaryIO, *, keyid: str | None) -> ExaminedKeys:
    """Return the public keys in a file.

    Args:
        file: a JWK set, a public JWK, or a PEM.
        keyid: the kid of a key that has none.

    Raises:
        click.BadParameter: the file has no such keys. The message does not quote it.
    """
    try:
        return parse_key_set(file.read(), keyid=keyid)
    except ConfigurationError as error:
        raise _wrong(file, error, "--jwks") from None


def parse_key_set(text: bytes, *, keyid: str | None) -> ExaminedKeys:
    """Return the public keys of a text, as `read_key_set` does.

    Raises:
        ConfigurationError: it has no such keys. The message does not quote it.
    """
    if is_pem(text):
        if keyid is None:
            raise _missing_keyid(read_public_pem(text))
        return ExaminedKeys.from_jwks(pem_jwks(text, keyid=keyid, purposes=_EVERY_PURPOSE))
    jwks = _public(_object(text, "a JWK set, a public JWK or a public key in PEM"))
    return ExaminedKeys.from_jwks({"keys": [_with_kid(jwks, keyid)]} if "kty" in jwks else jwks)


def _wrong(file: BinaryIO, error: ConfigurationError, option: str) -> click.BadParameter:
    return click.BadParameter(f"{file_name(file)}: {error}", param_hint=f"'{option}'")


def _from_pem(text: bytes, profile: Profile, keyid: str | None) -> SigningKey:
    key = read_private_pem(text, None)
    if keyid is None:
        raise _missing_keyid(key.public_key())
    algorithm = None
    if isinstance(key, rsa.RSAPrivateKey):
        algorithm = next((name for name in RSA if name in profile.algorithms), RSA[0])
    return SigningKey.from_private_key(key, keyid=keyid, purposes=_EVERY_PURPOSE, algorithm=algorithm)


def _from_jwk(text: bytes, keyid: str | None) -> SigningKey:
    return SigningKey.from_jwk(_with_kid(_object(text, "a private JWK or a private key in PEM"), keyid))


def _missing_keyid(key: PublicKey) -> ConfigurationError:
    """Return the error for a PEM without `--keyid`. It names the kid that `undersigned keygen` would give the key."""
    return ConfigurationError(
        "a PEM has no key ID: give the kid under which verifiers know the key, with --keyid. If the kid was made by "
        f"`undersigned keygen`, it is the key's thumbprint: --keyid {thumbprint(public_jwk(key))}"
    )


def _with_kid(jwk: JSONObject, keyid: str | None) -> JSONObject:
    """Return a JWK with its own kid, or with `keyid` if it has none."""
    return jwk if "kid" in jwk or keyid is None else {**jwk, "kid": keyid}


def _public(jwk: JSONObject) -> JSONObject:
    if "d" in jwk or "k" in jwk:
        raise ConfigurationError("this is a private key: give the public one, such as public.jwks.json")
    return jwk


def _object(text: bytes, expected: str) -> JSONObject:
    try:
        value = loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ConfigurationError(f"not a JSON object without repeated keys: expected {expected}")
    return value

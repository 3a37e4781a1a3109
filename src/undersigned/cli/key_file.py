"""Key files: a private key or the keys of a verifier, as JWK or PEM, given as an option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import click
from cryptography.hazmat.primitives.asymmetric import rsa

from undersigned import profiles
from undersigned.cli.input_file import FILE_OR_DASH, MOST_SETTINGS, as_input_file
from undersigned.cli.pem_file import check_private_pem, check_public_pem, missing_keyid
from undersigned.errors import ConfigurationError
from undersigned.message.strict_json import loads
from undersigned.signature.algorithms import RSA, algorithm_for
from undersigned.signature.key_source import ExaminedKeys
from undersigned.signature.pem import is_pem, read_private_pem, read_public_pem
from undersigned.signature.public_jwk import pem_jwks
from undersigned.signature.signing_key import SigningKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.cli.input_file import InputFile
    from undersigned.message.strict_json import JSONValue
    from undersigned.signature.profile import Profile

    JSONObject: TypeAlias = Mapping[str, JSONValue]

_EVERY_PURPOSE: Final = frozenset[str]().union(*(profile.key.purposes for profile in profiles.BY_NAME.values()))
"""The purposes of a key in PEM. A PEM does not name a purpose, so the key may be used for each of them."""


class _KeyFile(click.Path):
    """The type of `--key`, which says how to make a key if there is none."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """Return what to do without the option."""
        return "`undersigned keygen --out keys` makes a key pair; then give --key keys/private.jwk.json"


key_option = click.option(
    "--key",
    required=True,
    type=_KeyFile(exists=True, dir_okay=False, allow_dash=True),
    callback=as_input_file,
    metavar="FILE",
    envvar="UNDERSIGNED_KEY",
    help="Your private key: a JWK, such as private.jwk.json of `undersigned keygen`, or PEM. UNDERSIGNED_KEY in the "
    "environment can name the file instead.",
)
jwks_option = click.option(
    "--jwks",
    required=True,
    type=FILE_OR_DASH,
    callback=as_input_file,
    metavar="FILE",
    help="The public keys to verify with: a JWK set, such as public.jwks.json, a public JWK, or a public key in PEM.",
)
keyid_option = click.option(
    "--keyid",
    metavar="ID",
    help="For a key in PEM, which has no key ID: the kid under which verifiers know it.",
)


def read_signing_key(file: InputFile, profile: Profile | None, *, keyid: str | None) -> SigningKey:
    """Return the private key in a file. Write a warning if other users can read the file.

    An RSA key in PEM signs by rsa-pss-sha512, unless the profile accepts rsa-v1_5-sha256 only.

    Args:
        file: a private JWK, or a PEM.
        profile: the profile to sign by, or None if that is not known.
        keyid: the value of `--keyid`.

    Raises:
        click.BadParameter: the file cannot be read, or has no such key. The message does not quote it.
    """
    text = file.read(MOST_SETTINGS)
    try:
        if is_pem(text):
            key = _from_pem(file, text, profile, keyid)
        else:
            key = SigningKey.from_jwk(_with_kid(file, _private_jwk(file, text), keyid))
    except ConfigurationError as error:
        raise file.wrong(str(error)) from None
    file.warn_if_exposed()
    return key


def read_key_set(file: InputFile, *, keyid: str | None, is_own: bool = False) -> ExaminedKeys:
    """Return the public keys in a file.

    Args:
        file: a JWK set, a public JWK, or a PEM.
        keyid: the value of `--keyid`.
        is_own: whether `keyid` belongs to another key of the command, so that keys with a kid keep it.

    Raises:
        click.BadParameter: the file cannot be read, or has no such keys, or `keyid` is given for a set.
    """
    text = file.read(MOST_SETTINGS)
    try:
        if is_pem(text):
            check_public_pem(file, text)
            if keyid is None:
                raise missing_keyid(file, read_public_pem(text))
            return ExaminedKeys.from_jwks(pem_jwks(text, keyid=keyid, purposes=_EVERY_PURPOSE))
        jwks = _object(file, text, expected="a JWK set, a public JWK or a public key in PEM")
        if "kty" in jwks and "keys" not in jwks:
            jwk = _public_jwk(file, jwks)
            return ExaminedKeys.from_jwks({"keys": [_with_kid(file, jwk, None if is_own and "kid" in jwk else keyid)]})
        if keyid is not None and not is_own:
            raise file.wrong(f"{file} is a JWK set, whose keys have their own kids; leave out --keyid")
        return ExaminedKeys.from_jwks(jwks)
    except ConfigurationError as error:
        raise file.wrong(str(error)) from None


def _from_pem(file: InputFile, text: bytes, profile: Profile | None, keyid: str | None) -> SigningKey:
    check_private_pem(file, text)
    key = read_private_pem(text, None)
    algorithm = None
    if isinstance(key, rsa.RSAPrivateKey):
        algorithm = next((name for name in RSA if profile and name in profile.algorithms), RSA[0])
    algorithm_for(key, private=True, algorithm=algorithm)
    if keyid is None:
        raise missing_keyid(file, key.public_key())
    return SigningKey.from_private_key(key, keyid=keyid, purposes=_EVERY_PURPOSE, algorithm=algorithm)


def _private_jwk(file: InputFile, text: bytes) -> JSONObject:
    jwk = _object(file, text, expected="a private JWK or a private key in PEM")
    if "keys" in jwk and "kty" not in jwk:
        raise file.wrong(f"{file} is a JWK set, for verifiers; give the private key, such as private.jwk.json")
    if jwk.get("kty") in {"OKP", "EC", "RSA"} and "d" not in jwk:
        raise file.wrong(f"{file} is a public JWK, without d; give the private key, such as private.jwk.json")
    return jwk


def _public_jwk(file: InputFile, jwk: JSONObject) -> JSONObject:
    if "d" in jwk or "k" in jwk:
        raise file.wrong(f"{file} is a private key; give the public one, such as public.jwks.json")
    return jwk


def _with_kid(file: InputFile, jwk: JSONObject, keyid: str | None) -> JSONObject:
    """Return a JWK with its own kid, or with `keyid` if it has none."""
    own = jwk.get("kid", keyid)
    if own is None:
        raise file.wrong(f"{file} is a JWK without a kid: give the kid under which verifiers know it, with --keyid")
    if keyid is not None and own != keyid:
        raise file.wrong(f"{file} is a JWK with another kid; leave out --keyid")
    return {**jwk, "kid": own}


def _object(file: InputFile, text: bytes, *, expected: str) -> JSONObject:
    try:
        value = loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise file.wrong(f"{file} is not a JSON object without repeated keys: expected {expected}")
    return value

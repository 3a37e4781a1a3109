"""Keys on the command line: a private key or the keys of a verifier, as JWK or PEM, in files that options name."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, BinaryIO, Final

import click
from cryptography.hazmat.primitives.asymmetric import rsa

from undersigned.cli.options import STANDARD_INPUT, file_name
from undersigned.errors import ConfigurationError
from undersigned.pasted.keys import EVERY_PURPOSE, json_object, missing_keyid, parse_pasted_keys, with_kid
from undersigned.signature.algorithms import RSA
from undersigned.signature.pem import is_pem, read_private_pem
from undersigned.signature.signing_key import SigningKey

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from undersigned.signature.key_source import ExaminedKeys
    from undersigned.signature.profile import Profile

    Command = TypeVar("Command", bound=Callable[..., object])

_PLACE: Final = "undersigned.cli.key_files"
"""The place of the password among what belongs to a run of a command."""


class _KeyFile(click.File):
    """The type of `--key`, which says how to make a key if there is none."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """Return what to do without the option."""
        return "`undersigned keygen --out keys` makes a key pair; then give --key keys/private.jwk.json"


def _keep_password(ctx: click.Context, _param: click.Parameter, file: BinaryIO | None) -> None:
    """Keep the password of the key for `read_signing_key`. No argument can be one: other users see arguments."""
    if file is None:
        return
    is_terminal = file_name(file) == STANDARD_INPUT and sys.stdin.isatty()
    text = click.prompt("Password of the key", hide_input=True, err=True) if is_terminal else file.read()
    octets = text.encode() if isinstance(text, str) else text
    ctx.meta[_PLACE] = octets.rstrip(b"\r\n")


def key_password() -> bytes | None:
    """Return the password of the key that this run of a command was given, or None."""
    return click.get_current_context().meta.get(_PLACE)


password_option = click.option(
    "--key-password",
    type=click.File("rb", lazy=False),
    metavar="FILE | -",
    expose_value=False,
    callback=_keep_password,
    help="A file with the password of an encrypted key in PEM. - asks for it at the terminal, or reads standard input.",
)
_key_option = click.option(
    "--key",
    required=True,
    type=_KeyFile("rb"),
    metavar="FILE",
    envvar="UNDERSIGNED_KEY",
    help="Your private key: a JWK, such as private.jwk.json of `undersigned keygen`, or PEM. UNDERSIGNED_KEY in the "
    "environment can name the file instead.",
)


def key_option(command: Command) -> Command:
    """Add the options that name a private key and its password."""
    return _key_option(password_option(command))


jwks_option = click.option(
    "--jwks",
    required=True,
    type=click.File("rb"),
    metavar="FILE",
    help="The public keys to verify with: a JWK set, such as public.jwks.json, a public JWK, or a public key in PEM.",
)
keyid_option = click.option(
    "--keyid", metavar="ID", help="For a key in PEM, which has no key ID: the kid under which verifiers know it."
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
    """Return the private key in a file, a private JWK or a PEM. Write a warning if other users can read the file.

    An RSA key in PEM signs by rsa-pss-sha512, unless the profile accepts rsa-v1_5-sha256 only.

    Raises:
        click.BadParameter: the file has no such key. The message does not quote it.
    """
    text = file.read()
    try:
        if is_pem(text):
            key = _from_pem(text, profile, keyid)
        else:
            key = SigningKey.from_jwk(with_kid(json_object(text, "a private JWK or a private key in PEM"), keyid))
    except ConfigurationError as error:
        raise _wrong(file, error, "--key") from None
    warn_if_exposed(file)
    return key


def read_key_set(file: BinaryIO, *, keyid: str | None) -> ExaminedKeys:
    """Return the public keys in a file: a JWK set, a public JWK, or a PEM whose key ID is `keyid`.

    Raises:
        click.BadParameter: the file has no such keys. The message does not quote it.
    """
    try:
        return parse_pasted_keys(file.read(), keyid=keyid)
    except ConfigurationError as error:
        raise _wrong(file, error, "--jwks") from None


def _wrong(file: BinaryIO, error: ConfigurationError, option: str) -> click.BadParameter:
    return click.BadParameter(f"{file_name(file)}: {error}", param_hint=f"'{option}'")


def _from_pem(text: bytes, profile: Profile, keyid: str | None) -> SigningKey:
    key = read_private_pem(text, key_password())
    if keyid is None:
        raise missing_keyid(key.public_key())
    algorithm = None
    if isinstance(key, rsa.RSAPrivateKey):
        algorithm = next((name for name in RSA if name in profile.algorithms), RSA[0])
    return SigningKey.from_private_key(key, keyid=keyid, purposes=EVERY_PURPOSE, algorithm=algorithm)

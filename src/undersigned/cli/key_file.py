"""Key files: a private JWK or a JWK set, given as an option."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from undersigned.errors import ConfigurationError
from undersigned.message.strict_json import loads
from undersigned.signature.key_source import KeySet
from undersigned.signature.signing_key import SigningKey

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def read_signing_key(_ctx: click.Context, _param: click.Parameter, path: Path) -> SigningKey:
    """Return the key of a private JWK.

    Raises:
        click.BadParameter: the file cannot be read, or it is not a private JWK. The message quotes nothing of the file.
    """
    try:
        return SigningKey.from_jwk(_read_object(path, expected="a private JWK"))
    except ConfigurationError as error:
        raise click.BadParameter(str(error)) from None


def read_key_set(_ctx: click.Context, _param: click.Parameter, path: Path) -> KeySet:
    """Return the keys of a JWK set.

    Raises:
        click.BadParameter: the file cannot be read, or it is not a JWK set.
    """
    try:
        return KeySet.from_jwks(_read_object(path, expected="a JWK set"))
    except ConfigurationError as error:
        raise click.BadParameter(str(error)) from None


def _read_object(path: Path, *, expected: str) -> dict[str, JSONValue]:
    try:
        value = loads(path.read_bytes())
    except OSError as failure:
        raise click.BadParameter(f"{click.format_filename(path)} cannot be read: {failure.strerror}") from None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise click.BadParameter(
            f"{click.format_filename(path)} is not a JSON object without repeated keys: expected {expected}"
        )
    return value

"""Key files: a private JWK and a JWK set, read as options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from undersigned.errors import ConfigurationError
from undersigned.message.strict_json import loads
from undersigned.signature.key_source import KeySet
from undersigned.signature.keys import SigningKey

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def read_signing_key(_ctx: click.Context, _param: click.Parameter, path: Path) -> SigningKey:
    """Return the key of a private JWK.

    Raises:
        click.BadParameter: the file cannot be read or is no private JWK; nothing of the file is in the message.
    """
    try:
        return SigningKey.from_jwk(_object(path))
    except ConfigurationError as wrong:
        raise click.BadParameter(str(wrong)) from None


def read_key_set(_ctx: click.Context, _param: click.Parameter, path: Path) -> KeySet:
    """Return the keys of a JWK set.

    Raises:
        click.BadParameter: the file cannot be read or is no JWK set.
    """
    try:
        return KeySet.from_jwks(_object(path))
    except ConfigurationError as wrong:
        raise click.BadParameter(str(wrong)) from None


def _object(path: Path) -> dict[str, JSONValue]:
    try:
        value = loads(path.read_bytes())
    except OSError as failure:
        raise click.BadParameter(f"{click.format_filename(path)} cannot be read: {failure.strerror}") from None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise click.BadParameter(f"{click.format_filename(path)} is not one JSON object without repeated keys")
    return value

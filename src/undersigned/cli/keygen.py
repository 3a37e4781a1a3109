"""`undersigned keygen`: make a key pair and write it to two files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from undersigned.cli.key_file import FILE
from undersigned.cli.new_files import create_files
from undersigned.cli.options import algorithm_option
from undersigned.errors import ConfigurationError
from undersigned.signature.key_pair import Algorithm, KeyPair

if TYPE_CHECKING:
    from collections.abc import Mapping

PRIVATE = "private.jwk.json"
PUBLIC = "public.jwks.json"
PRIVATE_MODE = 0o600


@click.command()
@algorithm_option("The signature algorithm.")
@click.option("--kid", "keyid", metavar="ID", help="The key's kid.  [default: the RFC 7638 thumbprint]")
@click.option(
    "--pem",
    type=FILE,
    help="A private key in PEM, without a password, to take instead of a new one.",
)
@click.option(
    "--out",
    "directory",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The directory for the files; created if it does not exist.",
)
def keygen(*, algorithm: Algorithm, keyid: str | None, pem: Path | None, directory: Path) -> None:
    """Make a key pair for request signing.

    The files are a private JWK (mode 0600) and a JWK set to publish. Existing files are never overwritten.
    """
    pair = new_pair(algorithm, keyid) if pem is None else _pair_of(pem, keyid)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        create_files(
            {
                directory / PRIVATE: (PRIVATE_MODE, json_text(pair.private)),
                directory / PUBLIC: (0o644, json_text(pair.public)),
            }
        )
    except OSError as failure:
        name = click.format_filename(failure.filename or directory)
        raise click.BadParameter(f"{name}: {failure.strerror}", param_hint="--out") from None
    click.echo(f"kid: {pair.private['kid']}")
    click.echo(f"private JWK for signing, mode 0600: {click.format_filename(directory / PRIVATE)}")
    click.echo(f"public JWK set to publish: {click.format_filename(directory / PUBLIC)}")


def new_pair(algorithm: Algorithm, keyid: str | None) -> KeyPair:
    """Return a new key pair.

    Raises:
        click.BadParameter: `keyid` is not printable ASCII.
    """
    try:
        return KeyPair.generate(algorithm, keyid=keyid)
    except ConfigurationError as wrong:
        raise click.BadParameter(str(wrong), param_hint="--kid") from None


def _pair_of(pem: Path, keyid: str | None) -> KeyPair:
    """Return the key pair of a PEM file.

    Raises:
        click.BadParameter: the file has no private key that can be used, or `keyid` is not printable ASCII. The message
            quotes nothing of the file.
    """
    try:
        return KeyPair.from_pem(pem.read_bytes(), keyid=keyid)
    except OSError as failure:
        raise click.BadParameter(f"{click.format_filename(pem)}: {failure.strerror}", param_hint="--pem") from None
    except ConfigurationError as wrong:
        raise click.BadParameter(str(wrong), param_hint="--pem or --kid") from None


def json_text(content: Mapping[str, object]) -> bytes:
    """Return the text of a key file."""
    return json.dumps(content, indent=2).encode("ascii") + b"\n"

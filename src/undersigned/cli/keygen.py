"""`undersigned keygen`: a new key pair, in two files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from undersigned.errors import ConfigurationError
from undersigned.signature.key_pair import Algorithm, KeyPair

if TYPE_CHECKING:
    from collections.abc import Mapping

PRIVATE = "private.jwk.json"
PUBLIC = "public.jwks.json"


@click.command()
@click.option(
    "--alg",
    "algorithm",
    type=click.Choice(["ed25519", "ecdsa-p256-sha256"]),
    default="ed25519",
    show_default=True,
    help="The signature algorithm.",
)
@click.option("--kid", "keyid", metavar="ID", help="The key's kid; its RFC 7638 thumbprint unless given.")
@click.option(
    "--out",
    "directory",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the files go; made if it is not there.",
)
def keygen(*, algorithm: Algorithm, keyid: str | None, directory: Path) -> None:
    """Make a key pair for request signing.

    It is written to two files: a private JWK (mode 0600) and a JWK set to publish. A file that is there already is
    never overwritten.
    """
    try:
        pair = KeyPair.generate(algorithm, keyid=keyid)
    except ConfigurationError as wrong:
        raise click.BadParameter(str(wrong), param_hint="--kid") from None
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _create({directory / PRIVATE: (0o600, pair.private), directory / PUBLIC: (0o644, pair.public)})
    except OSError as failure:
        name = click.format_filename(failure.filename or directory)
        raise click.BadParameter(f"{name}: {failure.strerror}", param_hint="--out") from None
    click.echo(f"kid: {pair.private['kid']}")
    click.echo(f"private JWK, mode 0600, to sign with: {click.format_filename(directory / PRIVATE)}")
    click.echo(f"public JWK set, to publish: {click.format_filename(directory / PUBLIC)}")


def _create(files: Mapping[Path, tuple[int, Mapping[str, object]]]) -> None:
    """Create all files or none; each has its mode from the first moment and replaces nothing.

    Raises:
        OSError: one of them cannot be written, or is there already.
    """
    created: list[Path] = []
    try:
        for path, (mode, content) in files.items():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            created.append(path)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(json.dumps(content, indent=2) + "\n")
    except OSError:
        for path in created:
            path.unlink()
        raise

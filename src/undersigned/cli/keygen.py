"""`undersigned keygen`: make a key pair and write it to two files."""

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
@click.option("--kid", "keyid", metavar="ID", help="The key's kid.  [default: the RFC 7638 thumbprint]")
@click.option(
    "--out",
    "directory",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The directory for the files; created if it does not exist.",
)
def keygen(*, algorithm: Algorithm, keyid: str | None, directory: Path) -> None:
    """Make a key pair for request signing.

    The files are a private JWK (mode 0600) and a JWK set to publish. Existing files are never overwritten.
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
    click.echo(f"private JWK for signing, mode 0600: {click.format_filename(directory / PRIVATE)}")
    click.echo(f"public JWK set to publish: {click.format_filename(directory / PUBLIC)}")


def _create(files: Mapping[Path, tuple[int, Mapping[str, object]]]) -> None:
    """Create all files or none. A file has its mode from the start and never replaces an existing file.

    Raises:
        OSError: a file cannot be written, or it exists already.
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

"""`undersigned keygen`: make a key pair and write it to two files."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, get_args

import click

from undersigned.cli.files import PRIVATE_MODE, create_files, json_text
from undersigned.cli.key_files import key_password, password_option, warn_if_exposed
from undersigned.errors import ConfigurationError
from undersigned.signature.key_pair import Algorithm, KeyPair

PRIVATE = "private.jwk.json"
PUBLIC = "public.jwks.json"

algorithm_option = click.option(
    "--alg",
    "algorithm",
    type=click.Choice(get_args(Algorithm)),
    help="The signature algorithm of the new key. Most profiles accept the first two.  [default: ed25519]",
)


@click.command()
@algorithm_option
@click.option("--kid", "keyid", metavar="ID", help="The key's kid.  [default: the RFC 7638 thumbprint]")
@click.option("--pem", type=click.File("rb"), metavar="FILE", help="A private key in PEM to take instead of a new one.")
@password_option
@click.option(
    "--out",
    "directory",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The directory for the files; created if it does not exist.",
)
def keygen(*, algorithm: Algorithm | None, keyid: str | None, pem: BinaryIO | None, directory: Path) -> None:
    """Make a key pair that signs requests.

    The files are a private JWK (mode 0600) and a JWK set to publish. Existing files are never overwritten.

    \b
    Examples:
      undersigned keygen --out keys
      openssl genpkey -algorithm ed25519 | undersigned keygen --pem - --out keys
    """  # noqa: D301 - click needs the escape to keep the line breaks
    pair = key_pair(algorithm, keyid, pem)
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
        more = "; give another directory" if isinstance(failure, FileExistsError) else ""
        raise click.BadParameter(f"{name}: {failure.strerror}{more}", param_hint="--out") from None
    click.echo(f"kid: {pair.private['kid']}")
    click.echo(f"private JWK for signing, mode 0600: {click.format_filename(directory / PRIVATE)}")
    click.echo(f"public JWK set to publish: {click.format_filename(directory / PUBLIC)}")


def key_pair(algorithm: Algorithm | None, keyid: str | None, pem: BinaryIO | None) -> KeyPair:
    """Return a new key pair, or the pair of a private key in PEM.

    The arguments are the values of `--alg`, which only an RSA key in PEM needs, `--kid` and `--pem`.

    Raises:
        click.BadParameter: `keyid` is not printable ASCII, or the file has no private key that can be used. The message
            does not quote the file.
    """
    try:
        if pem is None:
            return KeyPair.generate(algorithm or "ed25519", keyid=keyid)
        pair = KeyPair.from_pem(pem.read(), keyid=keyid, password=key_password(), algorithm=algorithm)
    except ConfigurationError as wrong:
        hint = "--kid" if pem is None else "--pem, --kid or --alg"
        raise click.BadParameter(str(wrong), param_hint=hint) from None
    warn_if_exposed(pem)
    return pair

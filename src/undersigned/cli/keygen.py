"""`undersigned keygen`: make a key pair and write it to two files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, get_args

import click

from undersigned.cli.key_files import key_password, password_option, warn_if_exposed
from undersigned.errors import ConfigurationError
from undersigned.signature.key_pair import Algorithm, KeyPair

if TYPE_CHECKING:
    from collections.abc import Mapping

PRIVATE = "private.jwk.json"
PUBLIC = "public.jwks.json"
PRIVATE_MODE = 0o600

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

    Args:
        algorithm: the value of `--alg`. A key in PEM has its own; only an RSA key needs it.
        keyid: the value of `--kid`.
        pem: the value of `--pem`.

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


def json_text(content: Mapping[str, object]) -> bytes:
    """Return the text of a key file."""
    return json.dumps(content, indent=2).encode("ascii") + b"\n"


def create_files(files: Mapping[Path, tuple[int, bytes]]) -> None:
    """Create all files or none. A file has its mode from the start and never replaces an existing file.

    Args:
        files: the mode and the content of each file.

    Raises:
        OSError: a file cannot be written, or it exists already.
    """
    created: list[Path] = []
    try:
        for path, (mode, content) in files.items():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            created.append(path)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(descriptor)
    except BaseException as failure:
        for path in created:
            path.unlink(missing_ok=True)
        if isinstance(failure, OSError) and created:
            failure.filename = failure.filename or str(created[-1])
        raise


def write_file(path: Path, mode: int, text: bytes, *, is_new: bool = False) -> None:
    """Write a file as a whole. No symbolic link is followed, and a new file replaces none.

    Raises:
        OSError: it cannot be written.
    """
    whole = path.with_name(f"{path.name}.new")
    try:
        whole.unlink(missing_ok=True)
        create_files({whole: (PRIVATE_MODE, text)})
        whole.chmod(mode)
        if is_new:
            os.link(whole, path)
        else:
            whole.replace(path)
    finally:
        whole.unlink(missing_ok=True)

"""`undersigned rotate`: add a key to a public JWK set, keep the old one for its overlap, then drop it."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from undersigned.cli.keygen import PRIVATE_MODE, json_text, key_pair
from undersigned.cli.new_files import create_files
from undersigned.cli.options import SECONDS, algorithm_option, pem_option
from undersigned.errors import ConfigurationError
from undersigned.signature.pem import is_pem
from undersigned.signature.public_jwk import pem_jwks
from undersigned.signature.public_jwks import read_public_jwks
from undersigned.signature.rotation import (
    LAST_SIGNATURE,
    LEAST_OVERLAP,
    SPREAD,
    Rotation,
    begin_rotation,
    finish_rotation,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from undersigned.cli.input_file import InputFile
    from undersigned.signature.key_pair import Algorithm, KeyPair

NEXT = "private.next.jwk.json"
_ADVICE = "a file that is in the way was left by a run that was cut off, or by the last rotation: move it"


def _not_standard_input(_ctx: click.Context, _param: click.Parameter, path: Path) -> Path:
    if str(path) == "-":
        raise click.BadParameter("the set is rewritten, so it cannot be standard input; give a file")
    return path


@click.command()
@click.option(
    "--jwks",
    "public",
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    callback=_not_standard_input,
    help="The public JWK set; it is rewritten. For a public key in PEM, a set is written next to it.",
)
@click.option(
    "--keyid", "old_keyid", metavar="ID", help="For a public key in PEM: the kid under which verifiers know it."
)
@click.option(
    "--out",
    "private",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The file for the new private key.  [default: {NEXT} in the set's directory]",
)
@algorithm_option("The signature algorithm of the new key.")
@pem_option
@click.option("--kid", "keyid", metavar="ID", help="The new key's kid.  [default: the RFC 7638 thumbprint]")
@click.option(
    "--overlap",
    type=click.IntRange(LEAST_OVERLAP, 31_536_000),
    default=3600,
    show_default=True,
    metavar="SECONDS",
    help="How long the old key stays in the set.",
)
@click.option("--finish", is_flag=True, help="Add no key; drop those whose overlap is over.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
@click.option("--now", type=SECONDS, help="The time, in seconds since the epoch.  [default: the real one]")
def rotate(
    *,
    public: Path,
    old_keyid: str | None,
    private: Path | None,
    algorithm: Algorithm,
    pem: InputFile | None,
    keyid: str | None,
    overlap: int,
    finish: bool,
    dry_run: bool,
    now: int | None,
) -> None:
    """Change the key for request signing, step by step.

    The first run makes a key pair. It writes the private JWK to a new file (mode 0600) and adds the public JWK to the
    set. The old key stays in the set for its overlap. The run with --finish drops the old key. Each run says what to do
    next. The file of the set is replaced as a whole, so a server never reads a part of it. Keys for other uses stay as
    they are.

    \b
    Examples:
      undersigned rotate --jwks keys/public.jwks.json
      undersigned rotate --jwks keys/public.jwks.json --finish
    """  # noqa: D301 - click needs the escape to keep the line breaks
    # If the path is a symbolic link, replace the file that it leads to, not the link.
    source = public.resolve()
    private = source.with_name(NEXT) if private is None else private
    moment = int(time.time()) if now is None else now
    try:
        public = _set_of(source)
        with nullcontext() if dry_run else _alone(public) as replacement:
            jwks = _read(source, public, old_keyid)
            if finish:
                step = _finish(jwks, public, now=moment)
            else:
                step = _begin(jwks, key_pair(algorithm, keyid, pem), public, private, now=moment, overlap=overlap)
            if replacement is not None and step.changes:
                _write(step, source, public, replacement)
            elif replacement is not None:
                replacement.unlink()
    except ConfigurationError as wrong:
        raise click.UsageError(f"{click.format_filename(source)}: {wrong}") from None
    except OSError as failure:
        name = click.format_filename(failure.filename or source)
        raise click.UsageError(f"{name}: {failure.strerror}; {_ADVICE}") from None
    for line in (*(["dry run: nothing is written"] if dry_run else []), *step.lines):
        click.echo(line)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of a rotation, with the files to write and the lines to print.

    Attributes:
        rotation: the changed set.
        lines: what to print.
        new_files: the mode and content of each new file by its path.
    """

    rotation: Rotation
    lines: tuple[str, ...]
    new_files: Mapping[Path, tuple[int, bytes]] = field(default_factory=dict[Path, tuple[int, bytes]])

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.new_files or self.rotation.dropped)


def _begin(jwks: Mapping[str, object], pair: KeyPair, public: Path, private: Path, *, now: int, overlap: int) -> _Step:
    [new] = cast("list[Mapping[str, object]]", pair.public["keys"])
    rotation = begin_rotation(jwks, new, now=now, overlap=overlap)
    published, signing = click.format_filename(public), click.format_filename(private)
    lines = [
        f"kid of the new key: {new['kid']}",
        f"private JWK for signing, mode 0600: {signing}",
        f"public JWK set to publish: {published}",
        *_dropped_lines(rotation),
        f"next: 1. Publish {published} at once.",
        f"      2. From {_time(now + SPREAD)} on, sign with {signing}: by then receivers know the key.",
    ]
    for keyid, end in rotation.retiring.items():
        lines.append(f"      3. Before {_time(end - LAST_SIGNATURE)}, stop signing with {keyid}.")
        lines.append(f"      4. From {_time(end)} on, drop it: undersigned rotate --finish --jwks {published}")
    return _Step(rotation, tuple(lines), {private: (PRIVATE_MODE, json_text(pair.private))})


def _finish(jwks: Mapping[str, object], public: Path, *, now: int) -> _Step:
    rotation = finish_rotation(jwks, now=now)
    lines = [
        *_dropped_lines(rotation),
        *(f"kept until {_time(end)}: {keyid}" for keyid, end in rotation.retiring.items()),
        f"next: publish {click.format_filename(public)}, and delete the private keys of what was dropped."
        if rotation.dropped
        else "nothing is dropped: no overlap is over",
    ]
    return _Step(rotation, tuple(lines))


def _dropped_lines(rotation: Rotation) -> list[str]:
    return [f"dropped, as its overlap is over: {keyid}" for keyid in rotation.dropped]


def _time(seconds: int) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _set_of(source: Path) -> Path:
    """Return the file to write the set to: the file that it is read from, or a new one next to a PEM.

    Raises:
        click.UsageError: the new one exists.
        OSError: the file cannot be read.
    """
    if not is_pem(source.read_bytes()):
        return source
    public = source.with_suffix(".jwks.json")
    if public.exists():
        name = click.format_filename(public)
        raise click.UsageError(f"{name} exists: it is the set to rotate from now on: --jwks {name}")
    return public


def _read(source: Path, public: Path, keyid: str | None) -> Mapping[str, object]:
    text = source.read_bytes()
    if source == public:
        return read_public_jwks(text)
    if keyid is None:
        raise ConfigurationError("a PEM has no key ID: give the kid under which verifiers know the key, with --keyid")
    return pem_jwks(text, keyid=keyid)


@contextmanager
def _alone(public: Path) -> Generator[Path]:
    """Yield a new file in the folder of the set, as a lock. Two runs at once would each lose what the other adds.

    Once it has replaced the set, a file of its name belongs to the next run. So it is removed only after an error.
    """
    replacement = public.with_name(f"{public.name}.new")
    create_files({replacement: (0o600, b"")})
    try:
        yield replacement
    except BaseException:
        replacement.unlink(missing_ok=True)
        raise


def _write(step: _Step, source: Path, public: Path, replacement: Path) -> None:
    """Write the private key, then the set. So the set never has a public key without a private key.

    Raises:
        OSError: a file cannot be written, or the file of the private key exists. The set has not changed.
    """
    create_files(step.new_files)
    try:
        with replacement.open("wb") as file:
            file.write(step.rotation.text)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(source, replacement)
        replacement.replace(public)
    except OSError:
        for path in step.new_files:
            path.unlink()
        raise

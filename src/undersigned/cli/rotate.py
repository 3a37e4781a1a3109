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

from undersigned.cli.key_file import FILE
from undersigned.cli.keygen import PRIVATE_MODE, json_text, new_pair
from undersigned.cli.new_files import create_files
from undersigned.cli.options import SECONDS, algorithm_option
from undersigned.errors import ConfigurationError
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

    from undersigned.signature.key_pair import Algorithm, KeyPair

NEXT = "private.next.jwk.json"
_ADVICE = "a file that is in the way was left by a run that was cut off, or by the last rotation: move it"


@click.command()
@click.option("--jwks", "public", required=True, metavar="FILE", type=FILE, help="The public JWK set; it is rewritten.")
@click.option(
    "--out",
    "private",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The file for the new private key.  [default: {NEXT} in the set's directory]",
)
@algorithm_option("The signature algorithm of the new key.")
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
    private: Path | None,
    algorithm: Algorithm,
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
    """
    # If the path is a symbolic link, replace the file that it leads to, not the link.
    public = public.resolve()
    private = public.with_name(NEXT) if private is None else private
    moment = int(time.time()) if now is None else now
    try:
        with nullcontext() if dry_run else _alone(public) as replacement:
            jwks = read_public_jwks(public.read_bytes())
            if finish:
                step = _finish(jwks, public, now=moment)
            else:
                step = _begin(jwks, new_pair(algorithm, keyid), public, private, now=moment, overlap=overlap)
            if replacement is not None and step.changes:
                _write(step, public, replacement)
            elif replacement is not None:
                replacement.unlink()
    except ConfigurationError as wrong:
        raise click.UsageError(f"{click.format_filename(public)}: {wrong}") from None
    except OSError as failure:
        name = click.format_filename(failure.filename or public)
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
        *_dropped(rotation),
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
        *_dropped(rotation),
        *(f"kept until {_time(end)}: {keyid}" for keyid, end in rotation.retiring.items()),
        f"next: publish {click.format_filename(public)}, and delete the private keys of what was dropped."
        if rotation.dropped
        else "nothing is dropped: no overlap is over",
    ]
    return _Step(rotation, tuple(lines))


def _dropped(rotation: Rotation) -> list[str]:
    return [f"dropped, as its overlap is over: {keyid}" for keyid in rotation.dropped]


def _time(seconds: int) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


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


def _write(step: _Step, public: Path, replacement: Path) -> None:
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
        shutil.copymode(public, replacement)
        replacement.replace(public)
    except OSError:
        for path in step.new_files:
            path.unlink()
        raise

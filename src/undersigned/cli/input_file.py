"""Input files: a file that is given as an option, or `-` for standard input."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

_READER = "undersigned.cli.standard_input"
_READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH

MOST_SETTINGS: Final = 1_048_576
"""The most bytes of a file of keys or certificates: a wrong path must not fill the memory."""

FILE_OR_DASH = click.Path(exists=True, dir_okay=False, allow_dash=True)
"""The type of an option or argument with the callback `as_input_file`."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read, or standard input.

    Attributes:
        path: the file, or None for standard input.
        option: the option that it was given as, for error messages.
    """

    path: Path | None
    option: str

    def __str__(self) -> str:
        """Return the name for a message."""
        return "standard input" if self.path is None else click.format_filename(self.path)

    def read(self, most: int) -> bytes:
        """Return the content.

        Args:
            most: the largest number of bytes. A larger file is not read.

        Raises:
            click.BadParameter: the file cannot be read, or has more bytes.
        """
        try:
            if self.path is None:
                content = _standard_input(self).read(most + 1)
            else:
                with self.path.open("rb") as file:
                    if os.fstat(file.fileno()).st_size > most:
                        raise self._too_large(most)
                    content = file.read(most + 1)
        except OSError as failure:
            raise self.wrong(f"{self} cannot be read: {failure.strerror}") from None
        if len(content) > most:
            raise self._too_large(most)
        return content

    def lines(self) -> Iterator[bytes]:
        """Yield the lines as they arrive, each with its line end.

        Raises:
            click.ClickException: the file cannot be read.
        """
        try:
            if self.path is None:
                yield from _standard_input(self)
            else:
                with self.path.open("rb") as file:
                    yield from file
        except OSError as failure:
            raise click.ClickException(f"{self} cannot be read: {failure.strerror}") from None

    def _too_large(self, most: int) -> click.BadParameter:
        return self.wrong(f"{self} has more than {most:,} bytes")

    def wrong(self, message: str) -> click.BadParameter:
        """Return the error that names the option."""
        return click.BadParameter(message, param_hint=self.option)

    def warn_if_exposed(self) -> None:
        """Write a warning if other users can read the file, which has a private key."""
        if self.path is None:
            return
        mode = self.path.stat().st_mode
        # Windows shows these bits for every file, and a pipe has them without meaning.
        if sys.platform != "win32" and stat.S_ISREG(mode) and mode & _READABLE_BY_OTHERS:
            click.echo(
                f"Warning: other users can read the private key in {self} (mode {stat.S_IMODE(mode):04o}). "
                f"Change that: chmod 600 {self}",
                err=True,
            )


def as_input_file(ctx: click.Context, param: click.Parameter, name: str | None) -> InputFile | None:
    """Return the file that an option names, or None if the option is not given. It is the callback of the option.

    Raises:
        click.BadParameter: as `input_file`.
    """
    return None if name is None else input_file(ctx, param, name)


def input_file(ctx: click.Context, param: click.Parameter, name: str) -> InputFile:
    """Return the file of that name, or standard input.

    Raises:
        click.BadParameter: `name` is `-`, and another option of the command is `-` too.
    """
    hint = param.get_error_hint(ctx)
    return standard_input(ctx, hint) if name == "-" else InputFile(Path(name), hint)


def standard_input(ctx: click.Context, option: str) -> InputFile:
    """Return standard input, which a command can read only once.

    Raises:
        click.BadParameter: another option of the command reads it.
    """
    reader = ctx.meta.setdefault(_READER, option)
    if reader != option:
        raise click.BadParameter(f"- is standard input, which {reader} reads already; give a file", param_hint=option)
    return InputFile(None, option)


def _standard_input(file: InputFile) -> BinaryIO:
    if sys.stdin is None:
        raise click.ClickException(f"standard input is closed, but {file.option} reads from it")
    if sys.stdin.isatty():
        click.echo(f"Reading {file.option} from the terminal. End it with Ctrl-D.", err=True)
    return sys.stdin.buffer

"""The content of a request on the command line: `-d TEXT`, `-d @FILE` or `-d @-`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from undersigned.cli.input_file import FILE_OR_DASH, input_file
from undersigned.message.strict_json import loads

if TYPE_CHECKING:
    import click

MOST_CONTENT: Final = 268_435_456
"""The most bytes of content that a command signs, because it is read into memory."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a request.

    Attributes:
        octets: the bytes.
        path: the file that has them and can be read again, as it was given; or None.
    """

    octets: bytes
    path: str | None

    @property
    def names_file(self) -> bool:
        """Whether the content is the name of a file, so that an @ may have been forgotten."""
        try:
            return Path(os.fsdecode(self.octets)).is_file()
        except (OSError, ValueError):
            return False

    @property
    def is_json(self) -> bool:
        """Whether the content is JSON that every parser reads alike."""
        try:
            loads(self.octets)
        except (ValueError, RecursionError):
            return False
        return True


def as_content(ctx: click.Context, param: click.Parameter, value: str | None) -> Content | None:
    """Return the content that an option gives, or None if it is not given. It is the callback of the option.

    Raises:
        click.BadParameter: the file does not exist, cannot be read or is too large, or it is standard input and another
            option reads that.
    """
    if value is None:
        return None
    if not value.startswith("@"):
        return Content(os.fsencode(value), None)
    name = str(FILE_OR_DASH.convert(value[1:], param, ctx))
    file = input_file(ctx, param, name)
    is_kept = file.path is not None and file.path.is_file()
    return Content(file.read(MOST_CONTENT), name if is_kept else None)

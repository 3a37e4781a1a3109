"""Lines: one JSON value per line in, one JSON object per line out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import click

from undersigned.cli.options import file_name
from undersigned.errors import UndersignedError
from undersigned.message.strict_json import AmbiguousJSON, JSONValue, loads
from undersigned.pasted.request import MalformedRequest

if TYPE_CHECKING:
    from typing import BinaryIO

CODE = "line_malformed"
"""The code for a line that a command cannot parse. No profile uses this code."""

JSONObject: TypeAlias = Mapping[str, object]
"""A JSON object to write."""


class MalformedLine(UndersignedError, ValueError):
    """Raised when a line does not have the form that the command expects. The message does not quote the line."""


def standard_input() -> BinaryIO:
    """Return standard input, for a command that was given -.

    Raises:
        click.ClickException: it is closed.
    """
    if sys.stdin is None:
        raise click.ClickException("standard input is closed, but - reads from it")
    return sys.stdin.buffer


def write_object(members: JSONObject) -> None:
    """Write one JSON object as a line of ASCII, and flush it."""
    click.echo(json.dumps(members))


def answer_lines(
    file: BinaryIO, answer: Callable[[JSONValue], JSONObject], on_error: Callable[[str], JSONObject]
) -> bool:
    """Read a file to its end, write one object for each line that is not blank, and return whether none has `error`.

    A line is UTF-8 and ends with LF. A line of white space only is blank. JSON that parsers interpret differently, such
    as a repeated key or NaN, is rejected.

    Args:
        file: the file, or standard input.
        answer: takes the value of a line and returns the object to write. It raises `MalformedLine` or
            `MalformedRequest` if the value does not have the expected form.
        on_error: takes why a line cannot be parsed, and returns the object to write.

    Raises:
        click.ClickException: the file cannot be read.
    """
    good = True
    for line in _lines(file):
        try:
            members = answer(_value(line))
        except (MalformedLine, MalformedRequest) as malformed:
            members = on_error(str(malformed))
        good = good and "error" not in members
        write_object(members)
    return good


def _lines(file: BinaryIO) -> Iterator[bytes]:
    try:
        yield from filter(bytes.strip, file)
    except OSError as failure:
        raise click.ClickException(f"{file_name(file)} cannot be read: {failure.strerror}") from None


def _value(line: bytes) -> JSONValue:
    try:
        return loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise MalformedLine("the line is not UTF-8") from None
    except AmbiguousJSON as ambiguous:
        raise MalformedLine(str(ambiguous)) from None
    except json.JSONDecodeError as undecodable:
        raise MalformedLine(f"the line is not JSON from character {undecodable.pos + 1} on") from None

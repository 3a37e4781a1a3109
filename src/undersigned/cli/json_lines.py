"""Lines: one JSON value per line in, one JSON object per line out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import click

from undersigned.cli.options import file_name
from undersigned.message.strict_json import AmbiguousJSON, JSONValue, loads
from undersigned.pasted.request import MalformedRequest

if TYPE_CHECKING:
    from typing import BinaryIO

CODE = "line_malformed"
"""The code for a line that a command cannot parse. No profile uses this code."""

JSONObject: TypeAlias = Mapping[str, object]
"""A JSON object to write."""


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
) -> Iterator[JSONObject]:
    """Read a file to its end, and write and yield one object for each line that is not blank.

    A line is UTF-8 and ends with LF. A line of white space only is blank. JSON that parsers interpret differently, such
    as a repeated key or NaN, is rejected.

    Args:
        file: the file, or standard input.
        answer: takes the value of a line and returns the object to write. It raises `MalformedRequest` if the value
            does not have the expected form.
        on_error: takes why a line cannot be parsed, and returns the object to write.

    Raises:
        click.ClickException: the file cannot be read.
    """
    for line in _lines(file):
        try:
            members = answer(loads(line.decode("utf-8")))
        except UnicodeDecodeError:
            members = on_error("the line is not UTF-8")
        except json.JSONDecodeError as undecodable:
            members = on_error(f"the line is not JSON from character {undecodable.pos + 1} on")
        except (AmbiguousJSON, MalformedRequest) as malformed:
            members = on_error(str(malformed))
        write_object(members)
        yield members


def _lines(file: BinaryIO) -> Iterator[bytes]:
    try:
        yield from filter(bytes.strip, file)
    except OSError as failure:
        raise click.ClickException(f"{file_name(file)} cannot be read: {failure.strerror}") from None

"""Lines: one JSON value per line in, one JSON object per line out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import click

from undersigned.errors import UndersignedError
from undersigned.message.strict_json import AmbiguousJSON, JSONValue, loads

if TYPE_CHECKING:
    from undersigned.cli.input_file import InputFile

CODE = "line_malformed"
"""The code for a line that a command cannot parse. No profile uses this code."""

Answer: TypeAlias = Mapping[str, object]
"""A JSON object to write."""


class MalformedLine(UndersignedError, ValueError):
    """Raised when a line does not have the form that the command expects. The message does not quote the line."""


def answer_lines(
    file: InputFile, answer: Callable[[JSONValue], Answer], on_error: Callable[[MalformedLine], Answer]
) -> None:
    """Read a file to its end and write one object for each line that is not blank.

    A line is UTF-8 and ends with LF. A line of white space only is blank. JSON that parsers interpret differently, such
    as a repeated key or NaN, is rejected.

    Args:
        file: the file, or standard input.
        answer: takes the value of a line and returns the object to write. It raises `MalformedLine` if the value does
            not have the expected form.
        on_error: returns the object to write for a line that cannot be parsed.

    Raises:
        click.ClickException: the file cannot be read.
    """
    for line in file.lines():
        if line.strip():
            try:
                members = answer(_value(line))
            except MalformedLine as malformed:
                members = on_error(malformed)
            write_object(members)


def write_object(members: Answer) -> None:
    """Write one JSON object as a line of ASCII, and flush it."""
    click.echo(json.dumps(members))


def _value(line: bytes) -> JSONValue:
    try:
        return loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise MalformedLine("the line is not UTF-8") from None
    except AmbiguousJSON as ambiguous:
        raise MalformedLine(str(ambiguous)) from None
    except json.JSONDecodeError as undecodable:
        raise MalformedLine(f"the line is not JSON from character {undecodable.pos + 1} on") from None

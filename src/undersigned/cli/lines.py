"""Lines: one JSON value per line in, one JSON object per line out. A request is such a value."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import click

from undersigned.cli.options import file_name
from undersigned.errors import UndersignedError
from undersigned.message.request import Request
from undersigned.message.strict_json import AmbiguousJSON, JSONValue, loads

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
    file: BinaryIO, answer: Callable[[JSONValue], JSONObject], on_error: Callable[[MalformedLine], JSONObject]
) -> bool:
    """Read a file to its end, write one object for each line that is not blank, and return whether none has `error`.

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
    good = True
    for line in _lines(file):
        try:
            members = answer(_value(line))
        except MalformedLine as malformed:
            members = on_error(malformed)
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


def parse_request(value: JSONValue) -> Request:
    """Return the request that a line describes: `{"method", "url", "headers", "body" or "body_b64"}`.

    `headers` is an object or a list of [name, value] pairs. `body` is text, encoded as UTF-8. `body_b64` is the body in
    padded Base64 (RFC 4648 section 4). Each member may be absent or null, and only one of the bodies may be given.
    Other members are ignored.

    Raises:
        MalformedLine: the value does not have this form.
    """
    if not isinstance(value, dict):
        raise MalformedLine("the line is not a JSON object with method, url, headers and body")
    method, url = value.get("method"), value.get("url")
    if not isinstance(method, str) or not isinstance(url, str):
        raise MalformedLine("method and url must be strings")
    return Request(method, url, _headers(value.get("headers")), _body(value.get("body"), value.get("body_b64")))


def _headers(value: JSONValue) -> list[tuple[str, str]]:
    if value is not None and not isinstance(value, (dict, list)):
        raise MalformedLine("headers must be an object or a list of [name, value] pairs")
    members: Iterable[object] = value.items() if isinstance(value, dict) else value or ()
    return [_pair(member) for member in members]


def _pair(member: object) -> tuple[str, str]:
    match member:
        case [str(name), str(text)] | (str(name), str(text)):
            return name, text
        case _:
            raise MalformedLine("the name and the value of a header must be strings")


def _body(text: JSONValue, encoded: JSONValue) -> bytes:
    match text, encoded:
        case None, None:
            return b""
        case str(), None:
            try:
                return text.encode("utf-8")
            except UnicodeEncodeError:
                raise MalformedLine("body contains a lone surrogate, which UTF-8 cannot encode; use body_b64") from None
        case None, str():
            try:
                return base64.b64decode(encoded, validate=True)
            except ValueError:
                raise MalformedLine("body_b64 is not padded Base64") from None
        case _:
            raise MalformedLine("give either body or body_b64, as a string")

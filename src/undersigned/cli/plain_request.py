"""A request as options of a command: `-X`, `-H` and `-d`, as curl has them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

import click

from undersigned.cli.content import as_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.cli.content import Content
    from undersigned.errors import MalformedURL

_FIELD: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)", re.DOTALL)
_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})


def typed_fields(headers: Sequence[tuple[str, str]], content: Content | None) -> tuple[tuple[str, str], ...]:
    """Return the header fields of the request, with the Content-Type of JSON if none is given.

    Args:
        headers: the value of `-H`.
        content: the value of `-d`.

    Raises:
        click.BadParameter: the content is not JSON, and no Content-Type is given.
    """
    if content is None or not content.octets or any(name.lower() == "content-type" for name, _ in headers):
        return tuple(headers)
    if not content.is_json:
        hint = ". The content of that file is given by an @ before its name" if content.names_file else ""
        raise click.BadParameter(
            f"the content is not JSON, so say what it is: -H 'Content-Type: ...'{hint}", param_hint="'-d' / '--data'"
        )
    return (*headers, ("Content-Type", "application/json"))


def wrong_url(url: str, malformed: MalformedURL) -> click.BadParameter:
    """Return the error for a URL that has no canonical form."""
    hint = "" if "://" in url else "; write all of it, such as https://seller.example.com/orders"
    return click.BadParameter(f"{malformed}{hint}", param_hint="URL")


def _fields(_ctx: click.Context, _param: click.Parameter, lines: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(map(_field, lines))


def _field(line: str) -> tuple[str, str]:
    """Return a header field, its value with one character for each byte.

    Raises:
        click.BadParameter: it has another form, or tells the length of the content.
    """
    match = _FIELD.fullmatch(line)
    if match is None:
        raise click.BadParameter("write a header field as 'Name: value'")
    name, value = match[1], os.fsencode(match[2].strip(" \t")).decode("latin-1")
    if name.lower() in _FRAMING:
        raise click.BadParameter(f"leave out {name}: the program that sends the request adds it")
    return name, value


header_option = click.option(
    "-H",
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    callback=_fields,
    help="A header field of the request; may be repeated.",
)
data_option = click.option(
    "-d",
    "--data",
    "content",
    metavar="TEXT | @FILE",
    callback=as_content,
    help="The content: text, or the bytes of a file. @- is standard input.",
)

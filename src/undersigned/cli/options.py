"""Options that several commands share: the profile, and the parts of a request as curl has them."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from undersigned import profiles
from undersigned.message.strict_json import loads
from undersigned.signature.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undersigned.errors import MalformedURL

STANDARD_INPUT: Final = "standard input"


def file_name(file: BinaryIO) -> str:
    """Return the name of a file that an option gives, for a message."""
    name: object = getattr(file, "name", "-")
    return click.format_filename(name) if isinstance(name, str) and name not in {"<stdin>", "-"} else STANDARD_INPUT


SECONDS = click.IntRange(0, 999_999_999_999_999)
"""Seconds since the epoch, up to the largest integer in a signature parameter (RFC 8941 section 3.3.1)."""

_FIELD: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)", re.DOTALL)
_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})

_NAMES: Final = tuple(profile.name for profile in profiles.FOR_REQUESTS)


def imported(module: str, name: str) -> object:
    """Return what a module has, or an attribute of that, as in `main:app` or `main:shop.app`.

    A module is looked for in the current folder too, and so is what it imports later. It may raise anything.
    """
    sys.path.insert(0, str(Path.cwd()))
    return attrgetter(name)(import_module(module))


def _closest(text: str, names: Iterable[str]) -> str:
    close = get_close_matches(text, names, 1)
    return f"did you mean {close[0]}? " if close else ""


def read_profile(_ctx: click.Context, _param: click.Parameter, text: str | None) -> Profile | None:
    """Return a profile for requests: a published one by its name, or one's own by its import path, as uvicorn has it.

    A module is looked for in the current folder too.

    Raises:
        click.BadParameter: there is no such profile, or the module cannot be imported.
    """
    if text is None or text in _NAMES:
        return None if text is None else profiles.BY_NAME[text]
    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise click.BadParameter(
            f"{text!r} is no published profile: {_closest(text.lower().replace('_', '-'), _NAMES)}Give one of "
            f"{', '.join(_NAMES)}, or the import path of your own, such as main:PROFILE"
        )
    try:
        found = imported(module, name)
    except ModuleNotFoundError as missing:
        close = _closest(str(missing.name), [path.stem for path in Path.cwd().glob("*.py")])
        raise click.BadParameter(f"no module {missing.name}: {close}Give its path from the current folder") from None
    except AttributeError:
        close = _closest(name, vars(sys.modules[module]))
        raise click.BadParameter(f"the module {module} has no {name}{close and f': {close}'.rstrip()}") from None
    except Exception as failure:  # noqa: BLE001 - a module of someone else may raise anything
        raise click.BadParameter(f"{module} cannot be imported: {type(failure).__name__}: {failure}") from None
    if not isinstance(found, Profile) or found.message != "request":
        raise click.BadParameter(f"{text} is not a Profile for requests: expected undersigned.Profile(...)")
    return found


profile_option = click.option(
    "--profile",
    callback=read_profile,
    default=profiles.DEFAULT.name,
    show_default=True,
    envvar="UNDERSIGNED_PROFILE",
    metavar="NAME | MODULE:NAME",
    help="The profile of the signatures; `default` is plain RFC 9421. Your own is named by its import path, such as "
    "main:PROFILE. UNDERSIGNED_PROFILE in the environment can name another.",
)


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a request on the command line.

    Attributes:
        octets: the bytes.
        path: the file that has them and can be read again, as it was given; or None.
    """

    octets: bytes
    path: str | None


def _content(ctx: click.Context, param: click.Parameter, value: str | None) -> Content | None:
    """Return the content that an option gives, or None if it is not given."""
    if value is None or not value.startswith("@"):
        return None if value is None else Content(os.fsencode(value), None)
    name = value[1:]
    file = click.File("rb").convert(name, param, ctx)
    return Content(file.read(), name if Path(name).is_file() else None)


def _fields(_ctx: click.Context, _param: click.Parameter, lines: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return headers, each value with one character for each byte."""
    fields: list[tuple[str, str]] = []
    for line in lines:
        match = _FIELD.fullmatch(line)
        if match is None:
            raise click.BadParameter("write a header as 'Name: value'")
        if match[1].lower() in _FRAMING:
            raise click.BadParameter(f"leave out {match[1]}: the program that sends the request adds it")
        fields.append((match[1], os.fsencode(match[2].strip(" \t")).decode("latin-1")))
    return tuple(fields)


header_option = click.option(
    "-H",
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    callback=_fields,
    help="A header of the request; may be repeated.",
)
data_option = click.option(
    "-d",
    "--data",
    "content",
    metavar="TEXT | @FILE",
    callback=_content,
    help="The request body: text, or the bytes of a file. @- is standard input.",
)


def typed_fields(headers: Sequence[tuple[str, str]], content: Content | None) -> tuple[tuple[str, str], ...]:
    """Return the headers of the request, with the Content-Type of JSON if none is given.

    Raises:
        click.BadParameter: the content is not JSON, and no Content-Type is given.
    """
    if content is None or not content.octets or any(name.lower() == "content-type" for name, _ in headers):
        return tuple(headers)
    try:
        loads(content.octets)
    except (ValueError, RecursionError):
        raise click.BadParameter(
            "the body is not JSON, so say what it is: -H 'Content-Type: ...'. To send a file, put an @ before its name",
            param_hint="'-d' / '--data'",
        ) from None
    return (*headers, ("Content-Type", "application/json"))


def wrong_url(url: str, malformed: MalformedURL) -> click.BadParameter:
    """Return the error for a URL that has no canonical form."""
    hint = "" if "://" in url else "; write all of it, such as https://seller.example.com/orders"
    return click.BadParameter(f"{malformed}{hint}", param_hint="URL")

"""A curl command that sends one signed request, to be pasted into bash."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click

from undersigned.cli.bash import bash_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undersigned.cli.content import Content

MOST_INLINE: Final = 65_536
"""The most bytes of content that are written into the command: Linux takes 131,072 as one argument."""

_GLOBBING: Final = frozenset("[]{}")


def curl_command(method: str, url: str, fields: Iterable[tuple[str, str]], content: Content | None) -> str:
    """Return a curl command. It reads a file again when it runs; any other content is part of the command.

    Args:
        method: the method.
        url: the URL that was signed.
        fields: all header fields. Text is bytes decoded as Latin-1.
        content: the content, or None.

    Raises:
        click.UsageError: curl cannot send the request.
    """
    parts = [f"curl {_method(method, content)}", *_url_options(url)]
    parts += [f"--header {bash_word(_field(name, value))}" for name, value in fields]
    if content is not None and content.octets:
        parts.append(_data(content))
    return " \\\n  ".join([*parts, bash_word(url.encode("ascii"))])


def _method(method: str, content: Content | None) -> str:
    if method != "HEAD":
        return f"--request {bash_word(os.fsencode(method))}"
    if content is not None and content.octets:
        raise click.UsageError("--curl: curl cannot send a HEAD request with content")
    # With --request HEAD, curl waits for content that never comes.
    return "--head"


def _url_options(url: str) -> Iterator[str]:
    if not _GLOBBING.isdisjoint(url):
        yield "--globoff"
    if "/." in url:
        yield "--path-as-is"


def _field(name: str, value: str) -> bytes:
    # curl takes `Name:` for a field to leave out.
    return f"{name}: {value}".encode("latin-1") if value else f"{name};".encode("latin-1")


def _data(content: Content) -> str:
    if content.path is not None:
        return f"--data-binary {bash_word(b'@' + os.fsencode(content.path))}"
    if b"\0" in content.octets or len(content.octets) > MOST_INLINE:
        raise click.UsageError(
            f"--curl: content with a NUL or more than {MOST_INLINE:,} bytes must be in a file: -d @FILE"
        )
    return f"--data-raw {bash_word(content.octets)}"

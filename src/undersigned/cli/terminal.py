"""Text of another party for a terminal: no control sequence, and nothing that changes the order of the text."""

from __future__ import annotations

import sys

import click


def write_foreign(text: str) -> None:
    """Write text of another party. All but printable characters, line ends and tabs are escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    # A terminal without UTF-8 cannot show every printable character.
    click.echo(foreign(text).encode(encoding, "backslashreplace").decode(encoding))


def foreign(text: str) -> str:
    """Return the text with all but printable characters, line ends and tabs escaped."""
    return "".join(map(_escape, text.replace("\r\n", "\n")))


def _escape(character: str) -> str:
    if character.isprintable() or character in "\n\t":
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")

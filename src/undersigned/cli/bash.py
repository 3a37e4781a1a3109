"""Words of bash: how to write bytes so that bash reads exactly them, also when the text is pasted into a terminal."""

from __future__ import annotations

import re
import shlex
from typing import Final

_PRINTABLE: Final = re.compile(rb"[ -~]*")
_AS_IT_IS: Final = re.compile(rb"[ \"-&(-\[\]-~]")
"""What needs no escape in $'...'. A `!` does: an interactive bash replaces it."""


def bash_word(octets: bytes) -> str:
    """Return one word of bash, in printable ASCII.

    What is not printable is escaped in $'...'. A tab would make a terminal complete a name, and a character beyond
    ASCII depends on the locale.

    Raises:
        ValueError: there is a NUL, which no word can have.
    """
    if b"\0" in octets:
        raise ValueError("a word of bash cannot have a NUL")
    if _PRINTABLE.fullmatch(octets):
        return shlex.quote(octets.decode("ascii"))
    return f"$'{''.join(map(_escape, octets))}'"


def _escape(octet: int) -> str:
    return chr(octet) if _AS_IT_IS.fullmatch(bytes((octet,))) else f"\\x{octet:02x}"

"""The challenge that tells a sender why its signature is rejected: `WWW-Authenticate: Signature error="..."` (AdCP)."""

from __future__ import annotations

import re
from typing import Final

from undersigned.message import tchar

# A parameter, or a word that begins a challenge (RFC 9110 section 11.2). What stands between them is passed over.
_PART: Final = re.compile(rf'({tchar.ANY}+)(?:[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|{tchar.ANY}+))?')
_CODE: Final = re.compile(r"[a-z_]{1,64}")


def write_challenge(code: str) -> str:
    """Return the value of WWW-Authenticate for a code."""
    return f'Signature error="{code}"'


def read_challenge(value: str) -> str | None:
    """Return the code in a value of WWW-Authenticate, or None. The value may have other challenges too."""
    scheme = ""
    for name, given in _PART.findall(value):
        if not given:
            scheme = name.lower()
        elif scheme == "signature" and name.lower() == "error" and _CODE.fullmatch(given.strip('"')):
            return str(given.strip('"'))
    return None

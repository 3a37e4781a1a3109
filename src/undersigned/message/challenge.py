"""The challenge that tells a sender why its signature is rejected: `WWW-Authenticate: Signature error="..."` (AdCP)."""

from __future__ import annotations

import re
from typing import Final

_ERROR: Final = re.compile(r'(?:^|[\s,])Signature error="([a-z_]{1,64})"')


def write_challenge(code: str) -> str:
    """Return the value of WWW-Authenticate for a code."""
    return f'Signature error="{code}"'


def read_challenge(value: str) -> str | None:
    """Return the code in a value of WWW-Authenticate, or None. The value may have other challenges too."""
    found = _ERROR.search(value)
    return None if found is None else found[1]

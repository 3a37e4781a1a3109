"""Redaction: which headers and query parameters carry credentials, and text for a log without their values."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from undersigned.limits import LONGEST_LOGGED
from undersigned.log_text import printable

WITHHELD: Final = "(withheld)"
"""What a log has in place of a credential."""

_CREDENTIALS = (
    "authorization", "cookie", "api-key", "apikey", "auth-key", "access-key", "subscription-key", "token", "secret",
    "password", "passwd", "jwt",
)  # fmt: skip
# Whoever has a presigned URL may use it.
_PRESIGNED = re.compile(r"(?:.*[-_])?signature|sig|key", re.IGNORECASE | re.DOTALL)
_QUERY_PARAMETER = re.compile(r'"@query-param".*;name="([^"]*)"')
# The value is optional: otherwise each question mark in a name without a value would start another search.
_PARAMETER = re.compile(r"(?<=[?&#])([^=&#\s\"]*+)(?:=([^&#\s\"]*+))?")
_IN_VALUE = re.compile(r"[?&#;]([^?&#;=]*)=")


def is_credential(name: str) -> bool:
    """Return whether a header, component or query parameter with this name usually carries a credential."""
    name = unquote(name)
    lower, parameter = name.lower().replace("_", "-"), _QUERY_PARAMETER.match(name)
    is_presigned = parameter is not None and _PRESIGNED.fullmatch(parameter[1]) is not None
    return is_presigned or any(secret in lower for secret in _CREDENTIALS)


def without_credentials(text: str, *, mask: str = WITHHELD) -> str:
    """Return `text` with `mask` in place of the values of query parameters that usually carry a credential."""

    def withhold(found: re.Match[str]) -> str:
        name, value = found.groups()
        # A value may be a URL with such a parameter, escaped once or twice.
        names = [] if value is None else [unquote(name), *_IN_VALUE.findall(unquote(unquote(value)))]
        is_secret = any(is_credential(one) or _PRESIGNED.fullmatch(one) for one in names)
        return f"{name}={mask}" if is_secret else found[0]

    return _PARAMETER.sub(withhold, text)


def without_credential(line: str, *, mask: str = WITHHELD, limit: int = LONGEST_LOGGED) -> str:
    """Return a line of a signature base for a log, with `mask` in place of the value of a credential."""
    name, colon, _ = line.partition(": ")
    if colon and is_credential(name):
        return f"{printable(name, limit=limit)}: {mask}"
    return printable(without_credentials(line, mask=mask), limit=limit)

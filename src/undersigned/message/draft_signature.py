"""Signatures by draft-cavage-http-signatures in a Signature field, to be told from those of RFC 9421 on sight."""

from __future__ import annotations

import re
from typing import Final

_KEYID: Final = re.compile(r'(?:^|,) *(?:Signature +)?keyId *= *"')
_MEMBER: Final = re.compile(
    r"(?:^|,) *(?:Signature +)?(?:keyId|algorithm|headers|signature|created|expires) *= *"
    r'(?:"[^"\\]*"|[0-9A-Za-z.-]+) *(?=,|$)'
)


def has_draft(signature: str) -> bool:
    """Return whether a value of Signature has a signature by the draft: no label of RFC 9421 is spelled `keyId`."""
    return _KEYID.search(signature) is not None


def unsigned_detail(signature: str | None) -> str:
    """Return why a request with this value of Signature is not signed, for the operator's log."""
    is_other = signature is not None and has_draft(signature)
    other = ": its signature by draft-cavage-http-signatures is another scheme's, and is left alone" if is_other else ""
    return f"the request is not signed{other}"


def without_draft(signature: str) -> str:
    """Return a value of Signature without the parameters of a signature by the draft."""
    return _MEMBER.sub("", signature).strip(" ,") if has_draft(signature) else signature

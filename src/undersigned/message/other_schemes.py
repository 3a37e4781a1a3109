"""Signatures of other schemes in a Signature field, to be told from those of RFC 9421 on sight."""

from __future__ import annotations

import re
from typing import Final

_KEYID: Final = re.compile(r'(?:^|,) *(?:Signature +)?keyId *= *"')
_MEMBER: Final = re.compile(
    r"(?:^|,) *(?:Signature +)?(?:keyId|algorithm|headers|signature|created|expires) *= *"
    r'(?:"[^"\\]*"|[0-9A-Za-z.-]+) *(?=,|$)'
)


def has_draft(signature: str) -> bool:
    """Return whether a value has a signature by draft-cavage: no label of RFC 9421 is spelled `keyId`."""
    return _KEYID.search(signature) is not None


def is_other_scheme(signature: str) -> bool:
    """Return whether a value of Signature, in a message without Signature-Input, is of another scheme.

    In RFC 9421, each member is a label with a Byte Sequence, such as `sig1=:AAAA:`.
    """
    return has_draft(signature) or "=:" not in signature


def unsigned_detail(signature: str | None) -> str:
    """Return why a request with this value of Signature is not signed, for the operator's log."""
    if not signature:
        return "the request is not signed"
    named = "signature by draft-cavage-http-signatures" if has_draft(signature) else "Signature header"
    return f"the request is not signed: its {named} is another scheme's, and is left alone"


def without_draft(signature: str) -> str:
    """Return a value of Signature without the parameters of a signature by the draft."""
    return _MEMBER.sub("", signature).strip(" ,") if has_draft(signature) else signature

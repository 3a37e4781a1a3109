"""The Digest header field, which Content-Digest replaced (RFC 3230 sections 4.1.1 and 4.3.2)."""

from __future__ import annotations

import base64
from typing import Final

from undersigned.limits import LONGEST_FIELD, MOST_SIGNATURES
from undersigned.message.content_digest import RunningDigest
from undersigned.message.structured_fields import MalformedField

_NAME: Final = "sha-256"
_LENGTH: Final = 32


def parse_digest(value: str) -> dict[str, bytes]:
    """Return the SHA-256 digest of a Digest field. Digests by other algorithms are not looked at.

    Raises:
        MalformedField: it is not a list of digests, or its SHA-256 is absent, repeated, or not 32 bytes in Base64.
    """
    members = value.split(",", MOST_SIGNATURES)
    if len(value) > LONGEST_FIELD or len(members) > MOST_SIGNATURES:
        raise MalformedField(
            f"the Digest field has {len(value):,} characters and {value.count(',') + 1:,} digests, and at most "
            f"{LONGEST_FIELD:,} and {MOST_SIGNATURES} are read: send SHA-256 alone"
        )
    found: list[bytes] = []
    for member in members:
        name, equals, text = member.strip(" \t").partition("=")
        if not equals:
            raise MalformedField("the Digest field is not a list of digests such as SHA-256=...")
        if name.lower() == _NAME:
            found.append(_octets(text))
    if len(found) != 1 or len(found[0]) != _LENGTH:
        raise MalformedField(f"the Digest field does not have one SHA-256 of {_LENGTH} bytes")
    return {_NAME: found[0]}


def digest_builder() -> RunningDigest:
    """Return a new builder of the Content-Digest that `legacy_digest` takes."""
    return RunningDigest((_NAME,))


def legacy_digest(content_digest: str) -> str:
    """Return the Digest field for a Content-Digest with one digest, by sha-256."""
    return f"SHA-256={content_digest.removeprefix(f'{_NAME}=:').removesuffix(':')}"


def _octets(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise MalformedField("the SHA-256 of the Digest field is not Base64") from None

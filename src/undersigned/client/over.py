"""Requests that are signed already, when one more signature is made over the first one, as by `GNAP_ROTATION`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import SigningError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from undersigned.client.content import DigestedContent

SIGNATURE_FIELDS = frozenset({"signature-input", "signature", "content-digest"})
"""The names of the fields that the signer writes, in lower case. The ones that a request already has are replaced.

A profile that signs over another signature keeps them.
"""


def kept_signature(fields: Iterable[tuple[str, str]], content: bytes | DigestedContent) -> Iterator[tuple[str, str]]:
    """Yield the signature fields that a request has already, for a signature over them.

    Args:
        fields: the header fields.
        content: the content, or its digest, which the signer adds by itself.

    Raises:
        SigningError: Content-Digest is not that digest.
    """
    for name, value in fields:
        lower = name.lower()
        if lower == "content-digest" and not isinstance(content, bytes):
            if value.strip(" \t") != content.digest:
                raise SigningError("headers: Content-Digest is not the digest of the content; sign this content first")
        elif lower in SIGNATURE_FIELDS:
            yield name, value


def together(before: Mapping[str, str], added: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the signature fields of a request with those of one more signature.

    Args:
        before: the header fields of the request by their names in lower case.
        added: the header fields that the signer made.
    """
    made = {name.lower(): value for name, value in added}
    both = [(name, f"{before[name.lower()]}, {made[name.lower()]}") for name in ("Signature-Input", "Signature")]
    digest = before.get("content-digest") or made.get("content-digest")
    return (*both,) if digest is None else (("Content-Digest", digest), *both)

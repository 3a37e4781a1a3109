"""Signing over a signature that a request already has, as `GNAP_ROTATION` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import SigningError
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences, serialize_byte_sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from undersigned.client.content import DigestedContent
    from undersigned.message.structured_fields import Encoding
    from undersigned.signature.profile import Profile

SIGNATURE_FIELDS = frozenset({"signature-input", "signature", "content-digest"})
"""The names of the fields that the signer writes, in lower case.

Such fields that a request already has are replaced. A profile that signs over another signature keeps them.
"""


def kept_signature(
    fields: Iterable[tuple[str, str]], content: bytes | DigestedContent, profile: Profile
) -> Iterator[tuple[str, str]]:
    """Yield the signature fields that a request has already, for a signature over them.

    A signature with the label of the new one is left out: it was made for an earlier try.

    Args:
        fields: the header fields.
        content: the content, or its digest, which the signer adds by itself.
        profile: the profile of the new signature.

    Raises:
        SigningError: Content-Digest is not the digest of the content.
    """
    label = profile.selection.label
    for name, value in fields:
        lower = name.lower()
        if lower == "content-digest" and not isinstance(content, bytes):
            if value.strip(" \t") != content.digest:
                raise SigningError("headers: Content-Digest is not the digest of the content; sign this content first")
        elif lower in SIGNATURE_FIELDS:
            yield name, _without(lower, value, label, profile.encoding)


def _without(name: str, value: str, label: str, encoding: Encoding) -> str:
    """Return the value of a signature field without the member that has this label."""
    try:
        if name == "signature-input":
            members = {one: read.text for one, read in parse_signature_input(value).items()}
        elif name == "signature":
            octets = parse_byte_sequences(value, encoding)
            members = {one: serialize_byte_sequence(signature, encoding) for one, signature in octets.items()}
        else:
            return value
    except MalformedField:
        # The signer raises an error that says what is wrong with the value.
        return value
    return ", ".join([f"{one}={text}" for one, text in members.items() if one != label])


def together(before: Mapping[str, str], added: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the signature fields of a request, with one more signature added.

    Args:
        before: the header fields of the request by their names in lower case.
        added: the header fields that the signer made.
    """
    made = {name.lower(): value for name, value in added}
    both = [(name, f"{before[name.lower()]}, {made[name.lower()]}") for name in ("Signature-Input", "Signature")]
    digest = before.get("content-digest") or made.get("content-digest")
    return (*both,) if digest is None else (("Content-Digest", digest), *both)

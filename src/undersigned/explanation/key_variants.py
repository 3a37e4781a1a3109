"""Variants of the signature and its key: another key of the set, or an ECDSA signature in DER."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from undersigned.explanation.variant import Alternative, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.explanation.values import SignedValues

_SEQUENCE: Final = b"\x30"
_SIZES: Final = (32, 48)


def _other_key(values: SignedValues) -> Iterator[Alternative]:
    for key in values.others:
        yield Alternative(values._replace(keys=(key,)), key.keyid, values.keyid)


def _in_der(values: SignedValues) -> Iterator[Alternative]:
    if values.signature[:1] != _SEQUENCE:
        return
    try:
        r, s = decode_dss_signature(values.signature)
    except ValueError:
        return
    for size in _SIZES:
        if 0 <= r < 1 << 8 * size and 0 <= s < 1 << 8 * size:
            raw = r.to_bytes(size, "big") + s.to_bytes(size, "big")
            yield Alternative(values._replace(signature=raw), "the signature as a DER sequence", "r and s")


KEY_VARIANTS: Final = (
    Variant(
        "another key", "key",
        "the signature names a key that did not make it: send the keyid of the key that signs, or publish the key "
        "under that keyid", _other_key,
    ),
    Variant(
        "DER signature", "signature",
        "the ECDSA signature is in DER: send r and s, each of the curve's size (RFC 9421 section 3.3.4)", _in_der,
    ),
)  # fmt: skip
"""The variants of the signature and its key."""

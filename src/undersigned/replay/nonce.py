"""How a store keeps a nonce: its sender chose the length, so the store bounds it."""

from __future__ import annotations

import hashlib

LONGEST_NONCE = 32
"""The most characters of a nonce that a store keeps as they are: 24 bytes as Base64url, where 16 are usual."""


def bounded_nonce(nonce: str) -> str:
    """Return what a store keeps of `nonce`: itself if it has 1 to 32 characters, otherwise its SHA-256 in hex.

    A digest has 64 characters, so it never equals a nonce that is kept as it is. The empty string is free for the
    store's own use.
    """
    if 0 < len(nonce) <= LONGEST_NONCE:
        return nonce
    return hashlib.sha256(nonce.encode("utf-8", "surrogatepass")).hexdigest()

"""The forms in which a store keeps a nonce: its sender chose the length, so the store bounds it."""

from __future__ import annotations

import hashlib

from undersigned.limits import LONGEST_NONCE


def bounded_nonce(nonce: str) -> str:
    """Return the form in which a store keeps `nonce`: unchanged if it has 1 to 32 characters, else its SHA-256 in hex.

    A digest has 64 characters, so it never equals a nonce that is kept as it is. The empty string is free for the
    store's own use.
    """
    if 0 < len(nonce) <= LONGEST_NONCE:
        return nonce
    return hashlib.sha256(nonce.encode("utf-8", "surrogatepass")).hexdigest()


def content_marker(nonce: str, content: str) -> str:
    """Return what a store keeps in addition to `nonce`, to know the content that it came with.

    It never equals what a store keeps of a nonce, since no nonce has a line break.
    """
    return hashlib.sha256(f"{nonce}\n{content}".encode("utf-8", "surrogatepass")).hexdigest()

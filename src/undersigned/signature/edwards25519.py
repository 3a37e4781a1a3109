"""Public keys of Ed25519, as points of edwards25519 (RFC 8032 section 5.1)."""

from __future__ import annotations

_PRIME = 2**255 - 19
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME


def point_fault(encoded: bytes) -> str:
    """Return why 32 octets may not be a public key, or "".

    OpenSSL verifies with any octets. But for a point of small order, anybody can make signatures that verify over many
    messages. And if a point has two encodings, a comparison takes one key for two.

    Args:
        encoded: y as 255 bits in little-endian order, and the sign of x (RFC 8032 section 5.1.2).
    """
    y = int.from_bytes(encoded, "little") & (2**255 - 1)
    if y >= _PRIME:
        return "x is not the canonical encoding of a point of Ed25519"
    # The curve is -x^2 + y^2 = 1 + d x^2 y^2.
    y2 = y * y % _PRIME
    # A point whose double has y = 0 has order 8; that double has order 4, and 1 and -1 have orders 1 and 2.
    if y in {0, 1, _PRIME - 1} or (_D * y2 * y2 + 2 * y2 - 1) % _PRIME == 0:
        return "x is a point of small order, for which anybody can make signatures"
    x2 = (y2 - 1) * pow(_D * y2 + 1, -1, _PRIME) % _PRIME
    if pow(x2, (_PRIME - 1) // 2, _PRIME) != 1:
        return "x is not a point of Ed25519"
    return ""
